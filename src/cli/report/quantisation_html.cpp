// The HTML page of a QuantisationReport: one function per section, each of which is left out if it
// has no content.
#include <fmt/format.h>

#include <algorithm>

#include "cli/report/charts.h"
#include "cli/report/html.h"
#include "cli/report/numbers.h"
#include "cli/report/page_style.h"
#include "cli/report/quantisation_report.h"

namespace millrace::cli {
namespace {

constexpr size_t kHistograms = 12;  // at most, of the layers that lost most

std::string fact(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html_escaped(value));
}

// Returns a text such as "14.00 MB to 3.60 MB, 3.89 times"; without the ratio if that is empty.
std::string change(const std::string& before, const std::string& after, const std::string& ratio) {
  return fmt::format("{} to {}{}{}", before, after, ratio.empty() ? "" : ", ", ratio);
}

std::string facts(const QuantisationReport& report) {
  std::string text = fact("computes in", report.precision);
  text += fact("samples", samples_text(report));
  text += fact("size", change(size_text(report.bytes_before), size_text(report.bytes_after),
                              ratio_text(static_cast<double>(report.bytes_before),
                                         static_cast<double>(report.bytes_after))));
  if (report.ms_before && report.ms_after)
    text += fact("time of a run", change(milliseconds_text(report.ms_before) + " ms",
                                         milliseconds_text(report.ms_after) + " ms",
                                         ratio_text(*report.ms_before, *report.ms_after)));
  if (const std::string kept = kept_text(report, report.layers.size()); !kept.empty())
    text += fact("kept in a higher precision", kept);
  if (report.same_top1)
    text += fact("same top-1", fmt::format("{} of {} samples", *report.same_top1, report.samples));
  return fmt::format("<dl class=\"facts\">\n{}</dl>\n", text);
}

std::string warnings(const QuantisationReport& report) {
  if (report.warnings.empty()) return {};
  std::string items;
  for (const std::string& warning : report.warnings)
    items += fmt::format("<li>{}</li>\n", html_escaped(warning));
  return fmt::format("<h2>Warnings</h2>\n<ul class=\"warnings\">\n{}</ul>\n", items);
}

std::string losses(const QuantisationReport& report) {
  if (report.layers.empty()) return {};
  return fmt::format(
      "<h2>Signal-to-noise ratio of each layer</h2>\n"
      "<p class=\"note\">{} In the order of the model, up to 80 dB; below {:g} dB red, below {:g} "
      "dB yellow.</p>\n{}\n",
      report.method.empty() ? "Of the outputs, if this layer alone computes in BF16."
                            : "Of the layer's result, if its operands are exact.",
      kBadSnrDb, 2 * kBadSnrDb, snr_chart(report.layers));
}

std::string histogram_card(const LayerRow& layer, const std::string& chart) {
  return fmt::format(
      "<figure>{}<figcaption><strong>{}</strong> ({}): {} dB, range {:.4g} to "
      "{:.4g}</figcaption></figure>\n",
      chart, html_escaped(layer.name), html_escaped(layer.operator_name), snr_text(layer.snr_db),
      layer.low, layer.high);
}

// Draws the histograms of the layers that lost most, the worst first.
std::string histograms(const std::vector<LayerRow>& layers) {
  std::string cards;
  size_t drawn = 0;
  for (auto layer = layers.rbegin(); layer != layers.rend() && drawn < kHistograms; ++layer) {
    const std::string chart = histogram_chart(*layer);
    if (chart.empty()) continue;
    cards += histogram_card(*layer, chart);
    ++drawn;
  }
  if (cards.empty()) return {};
  return fmt::format(
      "<h2>Values of the layers that lost most</h2>\n"
      "<p class=\"note\">Counts on a logarithmic scale. Red lines are the ends of the range: "
      "values beyond them saturate.</p>\n<div class=\"cards\">\n{}</div>\n",
      cards);
}

// Returns an end of the range; "-" for a layer without one.
std::string end_text(const LayerRow& layer, double end) {
  return layer.low < layer.high ? fmt::format("{:.4g}", end) : "-";
}

std::string table_row(const LayerRow& layer) {
  return fmt::format(
      "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td><td class=\"name\">{}</td>"
      "<td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td><td>{}</td></tr>\n",
      html_escaped(layer.name), html_escaped(layer.operator_name), html_escaped(layer.precision),
      snr_class(layer.snr_db), snr_text(layer.snr_db), cosine_text(layer.cosine),
      end_text(layer, layer.low), end_text(layer, layer.high), scale_text(layer),
      milliseconds_text(layer.ms_before), milliseconds_text(layer.ms_after));
}

std::string table(const std::vector<LayerRow>& layers) {
  if (layers.empty()) return {};
  std::string rows;
  for (const LayerRow& layer : layers) rows += table_row(layer);
  return fmt::format(
      "<h2>All layers</h2>\n<p class=\"note\">The layer that lost most is at the bottom.</p>\n"
      "<div class=\"table\"><table>\n<thead><tr><th class=\"name\">layer</th>"
      "<th class=\"name\">operator</th><th class=\"name\">computes in</th><th>SNR dB</th>"
      "<th>cosine</th><th>low</th><th>high</th><th>scale</th><th>ms before</th><th>ms after</th>"
      "</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
      rows);
}

std::string pictures(const QuantisationReport& report) {
  if (report.pictures.empty()) return {};
  std::string figures;
  for (const ReportPicture& picture : report.pictures)
    figures +=
        fmt::format("<figure><img src=\"{}\" alt=\"\"/><figcaption>{}</figcaption></figure>\n",
                    data_uri("image/png", picture.png), html_escaped(picture.caption));
  return fmt::format("<h2>Calibrated on</h2>\n<div class=\"pictures\">\n{}</div>\n", figures);
}

}  // namespace

std::string quantisation_html(const QuantisationReport& report) {
  const std::vector<LayerRow> layers = by_loss(report.layers);
  const std::string title = html_escaped(report.model);
  // The content security policy forbids everything that would need a network.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; img-src data:\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>Quantisation of {0}</title>\n<style>{1}</style>\n</head>\n<body>\n"
      "<h1>Quantisation of {0}</h1>\n{2}{3}{4}{5}{6}{7}</body>\n</html>\n",
      title, kPageStyle, facts(report), warnings(report), losses(report), histograms(layers),
      table(layers), pictures(report));
}

}  // namespace millrace::cli
