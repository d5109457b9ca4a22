#include "cli/bench/latency_plot.h"

#include <gmock/gmock.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cstdint>
#include <limits>
#include <sstream>

namespace millrace::test {
namespace {

using boost::property_tree::ptree;
using ::testing::HasSubstr;
using ::testing::Not;

// Query i is issued after i ms and takes `latency_ns(i)`.
template <class Latency>
cli::Measurement measured(int64_t queries, Latency latency_ns) {
  cli::Measurement run;
  for (int64_t i = 0; i < queries; ++i) run.queries.push_back({i * 1'000'000, latency_ns(i)});
  return run;
}

std::string plot_of(const cli::Measurement& run) {
  return cli::latency_plot("a title", run);
}

// The element <svg>; fails where the text is not well-formed XML.
ptree parsed(const std::string& plot) {
  std::istringstream stream(plot);
  ptree document;
  boost::property_tree::read_xml(stream, document);
  return document.get_child("svg");
}

size_t count_of(const std::string& plot, const std::string& part) {
  size_t count = 0;
  for (size_t at = plot.find(part); at != plot.npos; at = plot.find(part, at + 1)) ++count;
  return count;
}

TEST(LatencyPlot, IsXmlWithItsTitleEscaped) {
  const std::string plot = cli::latency_plot("<&\">", measured(5, [](int64_t i) { return i + 1; }));
  EXPECT_EQ(parsed(plot).get<std::string>("text"), "<&\">");
}

TEST(LatencyPlot, LabelsAsManyNinesAsTheQueriesCanTell) {
  const auto constant = [](int64_t) { return int64_t{2'000'000}; };
  const std::string hundred = plot_of(measured(100, constant));
  EXPECT_THAT(hundred, HasSubstr(">99 %<"));
  EXPECT_THAT(hundred, Not(HasSubstr(">99.9 %<")));
  EXPECT_THAT(plot_of(measured(1000, constant)), HasSubstr(">99.9 %<"));
}

TEST(LatencyPlot, ShowsTheLargestLatencyAtTheTop) {
  const std::string plot =
      plot_of(measured(50, [](int64_t i) { return i == 20 ? 40'000'000 : 1'000'000; }));
  EXPECT_THAT(plot, HasSubstr(">40 ms<"));
  EXPECT_THAT(plot, HasSubstr(">0.049 s<"));
}

TEST(LatencyPlot, DoesNotGrowWithTheNumberOfQueries) {
  const std::string plot =
      plot_of(measured(200'000, [](int64_t i) { return (i * 7919) % 1'000'003; }));
  EXPECT_LE(count_of(plot, "class=\"range\""), 360u);
  EXPECT_LT(plot.size(), 100'000u);
}

TEST(LatencyPlot, OfOneQueryAndOfExtremeTimesIsDrawn) {
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();
  for (const int64_t latency : {int64_t{0}, int64_t{1}, kLongest}) {
    const std::string plot = plot_of(measured(1, [&](int64_t) { return latency; }));
    EXPECT_EQ(count_of(plot, "<polyline"), 1u);
    EXPECT_EQ(count_of(plot, "class=\"range\""), 1u);
    EXPECT_THAT(plot, Not(HasSubstr("nan")));
    EXPECT_THAT(plot, Not(HasSubstr("inf")));
    parsed(plot);
  }
}

}  // namespace
}  // namespace millrace::test
