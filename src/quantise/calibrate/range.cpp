// Every method but min/max works on the histogram of the value alone, and clips the range that was
// seen. So the elements themselves are not needed after calibration.
#include "quantise/calibrate/range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace millrace::quantise {
namespace {

// The hull of zero and all elements seen.
Range seen_range(const ValueStatistics& seen) {
  return {std::min(seen.low(), 0.0F), std::max(seen.high(), 0.0F)};
}

// The part of `range` that lies within [low, high].
Range clipped(const Range& range, double low, double high) {
  return {std::max(range.low, static_cast<float>(low)),
          std::min(range.high, static_cast<float>(high))};
}

// The share of the elements that saturates at each end: the range holds 99.99 % of them.
constexpr double kTail = 0.00005;

Range by_percentile(const Histogram& histogram, const Range& all) {
  const auto tail = static_cast<uint64_t>(static_cast<double>(histogram.total()) * kTail);
  const auto counts = histogram.counts();
  size_t first = 0, last = counts.size() - 1;
  for (uint64_t left = tail; first < Histogram::kZeroBin && counts[first] <= left; ++first)
    left -= counts[first];
  for (uint64_t left = tail; last > Histogram::kZeroBin && counts[last] <= left; --last)
    left -= counts[last];
  const double half = histogram.bin_width() / 2;
  return clipped(all, histogram.centre(first) - half, histogram.centre(last) + half);
}

constexpr int kLevels = 255;  // intervals between the 256 integers of eight bits

// Returns the sum of the squared errors of quantisation to this range. An element within the range
// has the expected rounding error scale^2 / 12; one outside has the square of its distance to the
// range. The bin that holds zero is skipped: zero is exact, and after a ReLU it is frequent.
double square_error(const Histogram& histogram, const Range& range) {
  const double scale = (double{range.high} - double{range.low}) / kLevels;
  const double rounding = scale * scale / 12;
  const auto counts = histogram.counts();
  double error = 0;
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] == 0 || bin == Histogram::kZeroBin) continue;
    const double value = histogram.centre(bin);
    const double beyond = std::max({double{range.low} - value, value - double{range.high}, 0.0});
    error += static_cast<double>(counts[bin]) * (beyond > 0 ? beyond * beyond : rounding);
  }
  return error;
}

// Tries limits from the greatest magnitude seen down to 2 % of it.
Range by_square_error(const Histogram& histogram, const Range& all) {
  constexpr int kLimits = 50;
  Range best = all;
  double least = square_error(histogram, all);
  const float magnitude = std::max(-all.low, all.high);
  for (int i = 1; i < kLimits; ++i) {
    const double limit = double{magnitude} * (kLimits - i) / kLimits;
    const Range range = clipped(all, -limit, limit);
    const double error = square_error(histogram, range);
    if (error >= least) continue;
    least = error;
    best = range;
  }
  return best;
}

// Returns the counts by magnitude: entry i is of the i-th bins on both sides of zero. Entry 0, in
// which zeros would count, is left at 0, since every range represents zero exactly.
std::vector<double> magnitudes_of(const Histogram& histogram) {
  std::vector<double> magnitudes(Histogram::kBins / 2);
  const auto counts = histogram.counts();
  for (size_t i = 1; i < magnitudes.size(); ++i)
    magnitudes[i] =
        static_cast<double>(counts[Histogram::kZeroBin + i] + counts[Histogram::kZeroBin - 1 - i]);
  return magnitudes;
}

// Returns the Kullback-Leibler divergence sum(P * log(P / Q)) for a range of the first `bins`
// magnitudes. P is the distribution of the magnitudes clipped to the range: all beyond it count in
// its last bin. Q is that of the magnitudes within the range after quantisation: the bins are
// divided into `levels` levels, and each spreads its count evenly over its non-empty bins.
double divergence(std::span<const double> magnitudes, size_t bins, size_t levels) {
  double total = 0, beyond = 0;
  for (size_t i = 0; i < magnitudes.size(); ++i) {
    total += magnitudes[i];
    if (i >= bins) beyond += magnitudes[i];
  }
  double kept = total - beyond, sum = 0;
  if (kept <= 0) return std::numeric_limits<double>::infinity();
  for (size_t level = 0; level < levels; ++level) {
    const size_t first = level * bins / levels, end = (level + 1) * bins / levels;
    double inside = 0, used = 0;
    for (size_t i = first; i < end; ++i) {
      inside += magnitudes[i];
      if (magnitudes[i] > 0) used += 1;
    }
    for (size_t i = first; i < end; ++i) {
      const double before = magnitudes[i] + (i + 1 == bins ? beyond : 0);
      if (before <= 0 || used == 0) continue;
      sum += before / total * std::log(before / total / (inside / used / kept));
    }
  }
  return sum;
}

// Entropy calibration as in TensorRT (Migacz, "8-bit Inference with TensorRT", 2017), with every
// 16th limit tried.
Range by_entropy(const Histogram& histogram, const Range& all) {
  const std::vector<double> magnitudes = magnitudes_of(histogram);
  const size_t levels = all.low < 0 ? 128 : 256;  // of magnitudes: signed integers lose one bit
  constexpr size_t kStride = 16;
  size_t best = magnitudes.size();
  double least = divergence(magnitudes, best, levels);
  for (size_t bins = levels; bins < magnitudes.size(); bins += kStride) {
    const double lost = divergence(magnitudes, bins, levels);
    if (lost >= least) continue;
    least = lost;
    best = bins;
  }
  const double limit = static_cast<double>(best) * histogram.bin_width();
  return clipped(all, -limit, limit);
}

}  // namespace

std::optional<RangeMethod> parse_range_method(std::string_view name) {
  if (name == "minmax") return RangeMethod::kMinMax;
  if (name == "percentile") return RangeMethod::kPercentile;
  if (name == "mse") return RangeMethod::kMse;
  if (name == "entropy") return RangeMethod::kEntropy;
  return std::nullopt;
}

Range united(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Range choose_range(const ValueStatistics& seen, RangeMethod method) {
  const Range all = seen_range(seen);
  const Histogram& histogram = seen.histogram();
  if (histogram.limit() == 0) return {};
  switch (method) {
    case RangeMethod::kMinMax:
      return all;
    case RangeMethod::kPercentile:
      return by_percentile(histogram, all);
    case RangeMethod::kMse:
      return by_square_error(histogram, all);
    case RangeMethod::kEntropy:
      return by_entropy(histogram, all);
  }
  return all;
}

}  // namespace millrace::quantise
