#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/numbers.h"
#include "cli/report/quantisation_report.h"

namespace millrace::cli {
namespace {

constexpr size_t kNamesOfKept = 8;

std::string in_parentheses(const std::string& text) {
  return text.empty() ? "" : fmt::format(" ({})", text);
}

std::string facts(const QuantisationReport& report) {
  std::string text =
      fmt::format("{}: {}, {}\n", report.model, report.precision, samples_text(report));
  text += fmt::format("  size   {} -> {}{}\n", size_text(report.bytes_before),
                      size_text(report.bytes_after),
                      in_parentheses(ratio_text(static_cast<double>(report.bytes_before),
                                                static_cast<double>(report.bytes_after))));
  if (report.ms_before && report.ms_after)
    text += fmt::format("  time   {} ms -> {} ms{}\n", milliseconds_text(report.ms_before),
                        milliseconds_text(report.ms_after),
                        in_parentheses(ratio_text(*report.ms_before, *report.ms_after)));
  if (const std::string kept = kept_text(report, kNamesOfKept); !kept.empty())
    text += fmt::format("  kept   {}\n", kept);
  if (report.same_top1)
    text +=
        fmt::format("  top-1  the same for {} of {} samples\n", *report.same_top1, report.samples);
  for (const std::string& warning : report.warnings)
    text += fmt::format("  warning: {}\n", warning);
  return text;
}

std::string line_of(const LayerRow& layer) {
  const bool has_range = layer.low < layer.high;
  return fmt::format("  {:>7}  {:<9}  {:<23}  {:<11}  {:<9}  {} ({})\n", snr_text(layer.snr_db),
                     cosine_text(layer.cosine),
                     has_range ? fmt::format("{:.4g} to {:.4g}", layer.low, layer.high) : "-",
                     scale_text(layer), layer.precision, layer.name, layer.operator_name);
}

}  // namespace

std::string quantisation_text(const QuantisationReport& report, size_t worst) {
  std::string text = facts(report);
  std::vector<LayerRow> layers = by_loss(report.layers);
  // If no layer was measured, there is no table: layers cannot be ordered by their loss.
  if (std::ranges::all_of(layers, [](const LayerRow& layer) { return std::isnan(layer.snr_db); }))
    return text;
  const size_t shown = std::min(worst, layers.size());
  if (shown == 0) return text;
  text += fmt::format("  the {} of {} layers that lost most, the worst at the bottom:\n", shown,
                      layers.size());
  text += fmt::format("  {:>7}  {:<9}  {:<23}  {:<11}  {:<9}  layer\n", "SNR dB", "cosine", "range",
                      "scale", "in");
  for (size_t i = layers.size() - shown; i < layers.size(); ++i) text += line_of(layers[i]);
  return text;
}

}  // namespace millrace::cli
