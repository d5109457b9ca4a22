#include "cli/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/html.h"
#include "cli/report/numbers.h"

namespace millrace::cli {
namespace {

// Bars of higher SNR are cut off here: 80 dB is more than 8 bits can preserve.
constexpr double kHighestSnrDb = 80;
constexpr double kHeight = 100;

double bar_height(double snr_db) {
  if (std::isnan(snr_db)) return 1;  // visible, so that it has a tooltip
  return std::clamp(snr_db, 1.0, kHighestSnrDb) * kHeight / kHighestSnrDb;
}

// Each bar takes one unit of the chart's width; the page stretches the chart.
std::string bar(double x, double height, const std::string& kind, const std::string& title) {
  return fmt::format(
      R"(<rect class="bar {}" x="{:.4f}" y="{:.2f}" width="0.9" height="{:.2f}"><title>{}</title></rect>)",
      kind, x, kHeight - height, height, title);
}

std::string svg(const std::string& kind, double width, const std::string& content) {
  return fmt::format(
      R"(<svg class="{}" viewBox="0 0 {:.4f} {}" preserveAspectRatio="none" role="img">{}</svg>)",
      kind, width, kHeight, content);
}

// Returns a vertical line at a value; nothing if the value is outside of the histogram.
std::string limit_line(double value, const Histogram& values) {
  if (!(value >= values.low && value <= values.high)) return {};
  const double x =
      (value - values.low) / (values.high - values.low) * static_cast<double>(values.counts.size());
  return fmt::format(R"(<line class="limit" x1="{0:.4f}" x2="{0:.4f}" y1="0" y2="{1}"></line>)", x,
                     kHeight);
}

bool can_be_drawn(const Histogram& values) {
  return !values.counts.empty() && std::isfinite(values.low) && std::isfinite(values.high) &&
         values.low < values.high && std::isfinite(values.high - values.low);
}

}  // namespace

std::string snr_class(double snr_db) {
  if (!(snr_db >= kBadSnrDb)) return "bad";
  return snr_db < 2 * kBadSnrDb ? "poor" : "";
}

std::string snr_chart(const std::vector<LayerRow>& layers) {
  std::string bars;
  for (size_t i = 0; i < layers.size(); ++i)
    bars += bar(static_cast<double>(i), bar_height(layers[i].snr_db), snr_class(layers[i].snr_db),
                html_escaped(fmt::format("{} ({}): {} dB", layers[i].name, layers[i].operator_name,
                                         snr_text(layers[i].snr_db))));
  return svg("snr", static_cast<double>(std::max<size_t>(layers.size(), 1)), bars);
}

std::string histogram_chart(const LayerRow& layer) {
  const Histogram& values = layer.values;
  if (!can_be_drawn(values)) return {};
  const double most = std::log1p(static_cast<double>(*std::ranges::max_element(values.counts)));
  const double step = (values.high - values.low) / static_cast<double>(values.counts.size());
  std::string content;
  for (size_t i = 0; i < values.counts.size(); ++i) {
    if (values.counts[i] == 0) continue;
    const auto at = static_cast<double>(i);
    content += bar(at, std::log1p(static_cast<double>(values.counts[i])) / most * kHeight, "",
                   fmt::format("{:.4g} to {:.4g}: {}", values.low + at * step,
                               values.low + (at + 1) * step, values.counts[i]));
  }
  content += limit_line(layer.low, values) + limit_line(layer.high, values);
  return svg("histogram", static_cast<double>(values.counts.size()), content);
}

}  // namespace millrace::cli
