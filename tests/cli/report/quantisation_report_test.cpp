#include "cli/report/quantisation_report.h"

#include <gmock/gmock.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <limits>
#include <sstream>

namespace millrace::test {
namespace {

using boost::property_tree::ptree;
using cli::LayerRow;
using cli::QuantisationReport;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LayerRow layer(const std::string& name, double snr_db) {
  LayerRow row;
  row.name = name;
  row.operator_name = "Conv";
  row.precision = "int8";
  row.snr_db = snr_db;
  row.low = -1;
  row.high = 2.5;
  row.scale = 0.01;
  row.values = {-2, 3, {1, 20, 4}};
  return row;
}

QuantisationReport report() {
  QuantisationReport report;
  report.model = "photos.onnx";
  report.precision = "int8";
  report.method = "entropy";
  report.samples = 8;
  report.bytes_before = 14'000'000;
  report.bytes_after = 3'500'000;
  report.ms_before = 4;
  report.ms_after = 2;
  report.same_top1 = 7;
  report.layers = {layer("stem", 30), layer("worst", 4), layer("head", kInfinity)};
  report.warnings = {"one picture is constant"};
  report.pictures = {{"cat.png", {std::byte{'f'}, std::byte{'o'}, std::byte{'o'}}}};
  return report;
}

// The page as a tree; it fails where the markup is not closed or nested as it must be.
ptree parsed(const std::string& page) {
  std::istringstream stream(page);
  ptree tree;
  EXPECT_NO_THROW(boost::property_tree::read_xml(stream, tree)) << page;
  return tree;
}

std::vector<std::string> names_in_table(const ptree& page) {
  std::vector<std::string> names;
  for (const auto& [tag, section] : page.get_child("html.body"))
    if (section.get("<xmlattr>.class", "") == "table")
      for (const auto& [row, cells] : section.get_child("table.tbody"))
        names.push_back(cells.front().second.data());
  return names;
}

// The last layer of a path computes in integers and makes floating-point numbers.
TEST(QuantisationReport, AFloatingPointResultHasNoScale) {
  QuantisationReport one = report();
  one.layers = {layer("last", 12)};
  one.layers[0].low = one.layers[0].high = one.layers[0].scale = 0;
  one.layers[0].has_float_result = true;
  EXPECT_THAT(cli::quantisation_text(one), HasSubstr("fp32 result"));
  const std::string page = cli::quantisation_html(one);
  EXPECT_THAT(page, HasSubstr("<td>-</td><td>-</td><td>fp32 result</td>"));
  one.layers[0].has_float_result = false;
  EXPECT_EQ(cli::scale_text(one.layers[0]), "-");
}

TEST(QuantisationReport, TheLayerThatLostMostIsAtTheBottom) {
  std::vector<std::string> names;
  for (const LayerRow& row : cli::by_loss({layer("a", 20), layer("none", NAN), layer("b", 5),
                                           layer("exact", kInfinity), layer("c", 20)}))
    names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("exact", "a", "c", "b", "none"));
  EXPECT_THAT(names_in_table(parsed(cli::quantisation_html(report()))),
              ElementsAre("head", "stem", "worst"));
}

TEST(QuantisationReport, TheTextIsShort) {
  const std::string text = cli::quantisation_text(report(), 2);
  EXPECT_THAT(text, HasSubstr("photos.onnx: int8, calibrated by entropy on 8 samples\n"));
  EXPECT_THAT(text, HasSubstr("size   14.00 MB -> 3.50 MB (4.00 times)\n"));
  EXPECT_THAT(text, HasSubstr("time   4.000 ms -> 2.000 ms (2.00 times)\n"));
  EXPECT_THAT(text, HasSubstr("top-1  the same for 7 of 8 samples\n"));
  EXPECT_THAT(text, HasSubstr("warning: one picture is constant\n"));
  EXPECT_THAT(text, HasSubstr("the 2 of 3 layers that lost most"));
  EXPECT_THAT(text, Not(HasSubstr("head")));
  EXPECT_TRUE(text.ends_with("worst (Conv)\n")) << text;
}

TEST(QuantisationReport, LayersInAHigherPrecisionAreNamedWithWhatTheyCost) {
  QuantisationReport mixed = report();
  mixed.precision = "bf16";
  mixed.method.clear();
  mixed.ms_without_kept = 1.5;
  for (const size_t i : {0U, 2U}) {
    mixed.layers[i].is_kept = true;
    mixed.layers[i].precision = "fp32";
  }
  const std::string kept = "2 of 3 layers: stem (fp32), head (fp32); 1.500 ms without that";
  EXPECT_THAT(cli::quantisation_text(mixed),
              AllOf(HasSubstr("photos.onnx: bf16, measured on 8 samples\n"), HasSubstr(kept)));
  EXPECT_THAT(cli::quantisation_html(mixed), HasSubstr(kept));
  EXPECT_THAT(cli::quantisation_text(report()), Not(HasSubstr("kept")));
}

TEST(QuantisationReport, TheTextNamesAFewOfManyLayers) {
  QuantisationReport mixed = report();
  mixed.layers.assign(10, layer("kept", 3));
  for (LayerRow& row : mixed.layers) row.is_kept = true;
  EXPECT_THAT(cli::quantisation_text(mixed), HasSubstr("kept (int8) and 2 more\n"));
  EXPECT_THAT(cli::quantisation_html(mixed), Not(HasSubstr("more")));
}

// If the lower precision was good enough, no layer was measured.
TEST(QuantisationReport, WithoutMeasurementsThereIsNoTable) {
  QuantisationReport unmeasured = report();
  for (LayerRow& row : unmeasured.layers) row.snr_db = NAN;
  EXPECT_THAT(cli::quantisation_text(unmeasured), Not(HasSubstr("SNR")));
}

TEST(QuantisationReport, ThePageHasAllOfIt) {
  const std::string page = cli::quantisation_html(report());
  parsed(page);
  for (const char* part :
       {"photos.onnx", "14.00 MB to 3.50 MB, 4.00 times", "4.000 ms to 2.000 ms, 2.00 times",
        "7 of 8 samples", "one picture is constant", "data:image/png;base64,Zm9v", "cat.png",
        "class=\"snr\"", "class=\"histogram\"", "by entropy on 8 samples"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(QuantisationReport, ThePageNeedsNothingFromElsewhere) {
  const std::string page = cli::quantisation_html(report());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* part : {"http:", "https:", "src=\"/", "href=", "@import", "url(", "<script"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(QuantisationReport, NamesAreNoMarkup) {
  const std::string hostile = "</title><script>alert(\"1\")</script>&\x01\xff'";
  QuantisationReport named = report();
  named.model = named.precision = named.method = hostile;
  named.layers[1].name = named.layers[1].operator_name = named.layers[1].precision = hostile;
  named.warnings = {hostile};
  named.pictures[0].caption = hostile;
  const std::string page = cli::quantisation_html(named);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  const std::string title = parsed(page).get<std::string>("html.head.title");
  EXPECT_EQ(title, "Quantisation of </title><script>alert(\"1\")</script>& ?'");
}

TEST(QuantisationReport, WhatIsMissingIsLeftOut) {
  const std::string page = cli::quantisation_html({});
  parsed(page);
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
  EXPECT_THAT(page, Not(HasSubstr("Warnings")));
  EXPECT_THAT(page, Not(HasSubstr("time of a run")));
  EXPECT_THAT(page, Not(HasSubstr("times")));
  const std::string text = cli::quantisation_text({});
  EXPECT_THAT(text, Not(HasSubstr("top-1")));
  EXPECT_THAT(text, Not(HasSubstr("layers")));
}

TEST(QuantisationReport, ACosineThatIsNotKnownIsADash) {
  QuantisationReport report;
  report.layers = {layer("hidden", 30)};
  report.layers[0].cosine = NAN;
  EXPECT_THAT(cli::quantisation_html(report), HasSubstr("<td>-</td>"));
  EXPECT_THAT(cli::quantisation_text(report), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace millrace::test
