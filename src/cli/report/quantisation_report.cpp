#include "cli/report/quantisation_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/report/numbers.h"

namespace millrace::cli {

std::vector<LayerRow> by_loss(std::vector<LayerRow> layers) {
  std::ranges::stable_sort(layers, [](const LayerRow& a, const LayerRow& b) {
    if (std::isnan(a.snr_db) || std::isnan(b.snr_db))
      return !std::isnan(a.snr_db) && std::isnan(b.snr_db);
    return a.snr_db > b.snr_db;
  });
  return layers;
}

std::string scale_text(const LayerRow& layer) {
  if (layer.has_float_result) return "fp32 result";
  return layer.scale > 0 ? fmt::format("{:.4g}", layer.scale) : "-";
}

std::string samples_text(const QuantisationReport& report) {
  return fmt::format(
      "{} on {} sample{}",
      report.method.empty() ? "measured" : fmt::format("calibrated by {}", report.method),
      report.samples, report.samples == 1 ? "" : "s");
}

std::string kept_text(const QuantisationReport& report, size_t most) {
  std::vector<std::string> kept;
  for (const LayerRow& layer : report.layers)
    if (layer.is_kept) kept.push_back(fmt::format("{} ({})", layer.name, layer.precision));
  if (kept.empty()) return {};
  const size_t shown = std::min(most, kept.size());
  std::string text = fmt::format("{} of {} layers: {}", kept.size(), report.layers.size(),
                                 fmt::join(kept.begin(), kept.begin() + shown, ", "));
  if (shown < kept.size()) text += fmt::format(" and {} more", kept.size() - shown);
  if (report.ms_without_kept)
    text += fmt::format("; {} ms without that", milliseconds_text(report.ms_without_kept));
  return text;
}

}  // namespace millrace::cli
