#include "cli/quantise/fill_report.h"

#include <algorithm>
#include <limits>

#include "cli/model_source.h"

namespace millrace::cli {
namespace {

constexpr size_t kBars = 64;

// Returns the part of the histogram between its first and last counts, with bins merged to at most
// kBars bars.
Histogram bars_of(const quantise::Histogram& histogram) {
  const auto counts = histogram.counts();
  const auto is_used = [](uint64_t count) { return count > 0; };
  const auto first = std::ranges::find_if(counts, is_used) - counts.begin();
  const auto last = std::find_if(counts.rbegin(), counts.rend(), is_used).base() - counts.begin();
  if (histogram.limit() == 0 || first >= last) return {};
  const auto used = static_cast<size_t>(last - first);
  const size_t per_bar = (used + kBars - 1) / kBars;
  Histogram bars;
  bars.counts.resize((used + per_bar - 1) / per_bar);
  for (size_t i = 0; i < used; ++i) bars.counts[i / per_bar] += counts[first + i];
  const double width = histogram.bin_width();
  bars.low = histogram.centre(static_cast<size_t>(first)) - width / 2;
  bars.high = bars.low + width * static_cast<double>(per_bar * bars.counts.size());
  return bars;
}

LayerRow row_of(const quantise::LayerAccount& layer, const std::string& precision) {
  LayerRow row;
  row.name = layer.name;
  row.operator_name = layer.operator_name;
  row.snr_db = layer.snr_db;
  row.cosine = layer.cosine.value_or(std::numeric_limits<double>::quiet_NaN());
  row.low = layer.range.low;
  row.high = layer.range.high;
  row.is_kept = layer.kept_in.has_value();
  row.scale = row.is_kept ? 0 : layer.scale;
  // Every layer that is not kept reads integers, but not every result is stored as integers.
  row.has_float_result = precision == kInt8 && !row.is_kept && !(layer.scale > 0);
  row.precision = row.is_kept ? graph::name_of(*layer.kept_in) : precision;
  row.ms_before = layer.ms_before;
  row.ms_after = layer.ms_after;
  row.values = bars_of(layer.values);
  return row;
}

}  // namespace

QuantisationReport fill_report(const quantise::QuantisedModel& made,
                               const graph::CompiledModel& exact, const std::string& precision,
                               const CalibrationFlags& flags, size_t samples) {
  QuantisationReport report;
  report.model = exact.name;
  report.precision = precision == kInt8 ? kInt8 : graph::name_of(graph::Precision::kBf16);
  if (precision == kInt8) report.method = flags.method;
  report.samples = samples;
  report.bytes_before = weight_bytes(exact);
  report.bytes_after = weight_bytes(made.model);
  report.ms_before = made.ms_before;
  report.ms_after = made.ms_after;
  report.ms_without_kept = made.ms_without_kept;
  report.same_top1 = made.outputs.same_top1;
  for (const quantise::LayerAccount& layer : made.layers)
    report.layers.push_back(row_of(layer, report.precision));
  report.warnings = made.warnings;
  if (!made.target_holds)
    report.warnings.emplace_back(
        "the accuracy target is out of reach, even with all layers in FP32");
  return report;
}

}  // namespace millrace::cli
