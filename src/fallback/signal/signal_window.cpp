// Window functions of signal processing (BlackmanWindow, HammingWindow, HannWindow) and
// MelWeightMatrix, the triangular filters of mel bands. Elements are computed in double.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// Limits for sizes, which are elements of operands: above any real length of a window or number of
// bands.
constexpr int64_t kMaxSize = int64_t{1} << 24, kMaxBands = int64_t{1} << 16;

Result<int64_t> known_size(const Inference& node, size_t index, int64_t least,
                           int64_t most = kMaxSize) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t size, node.known_integer(index));
  if (size >= least && size <= most) return size;
  return invalid_argument(fmt::format("input {} is {}, out of range", index, size));
}

Status shape_of_window(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t size, known_size(node, 0, 0));
  MILLRACE_ASSIGN_OR_RETURN(const DataType type,
                            type_of_number(node.integer("output_datatype", 1)));
  node.set(0, type, {size});
  return {};
}

// Fills the output with f(i), which is computed in double.
template <class Function>
Status fill(const Call& call, Function&& f) {
  return visit_element(call.out(0).type, [&](auto zero) -> Status {
    const auto y = call.out(0).as<decltype(zero)>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<decltype(zero)>(f(i));
    return {};
  });
}

// A generalised cosine window: a0 + a1 * cos(x) + a2 * cos(2x), for x from 0 to 2 pi.
Status cosine_window(const Call& call, std::array<double, 3> factors) {
  const auto size = static_cast<double>(call.out(0).elements());
  // A periodic window omits the last element, with which the next period begins.
  const double period = call.integer("periodic", 1) != 0 ? size : size - 1;
  return fill(call, [&](size_t i) {
    const double x =
        period > 0 ? 2 * std::numbers::pi * static_cast<double>(i) / period : std::numbers::pi;
    return factors[0] + factors[1] * std::cos(x) + factors[2] * std::cos(2 * x);
  });
}

Status hann_window(const Call& call) {
  return cosine_window(call, {0.5, -0.5, 0});
}
Status hamming_window(const Call& call) {
  return cosine_window(call, {25.0 / 46, -21.0 / 46, 0});
}
Status blackman_window(const Call& call) {
  return cosine_window(call, {0.42, -0.5, 0.08});
}

constexpr size_t kBands = 0, kLength = 1, kRate = 2, kLowest = 3, kHighest = 4;

Result<double> known_frequency(const Inference& node, size_t index) {
  if (!kReals.contains(node.in(index).type) || node.in(index).elements() != 1)
    return invalid_argument(fmt::format("input {} must be one floating-point frequency", index));
  MILLRACE_RETURN_IF_ERROR(node.require_elements(index));
  return reals_of(node.in(index))[0];
}

double to_mel(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}
double to_hertz(double mel) {
  return 700 * (std::pow(10, mel / 2595) - 1);
}

// Returns the bins of the spectrum at which bands begin, peak and end. Band i has edges i to i + 2.
Result<std::vector<int64_t>> edges_of(const NodeView& node) {
  const int64_t bands = integers_of(node.in(kBands))[0], length = integers_of(node.in(kLength))[0];
  const auto rate = static_cast<double>(integers_of(node.in(kRate))[0]);
  const double low = to_mel(reals_of(node.in(kLowest))[0]);
  const double high = to_mel(reals_of(node.in(kHighest))[0]);
  const double step = (high - low) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = to_hertz(static_cast<double>(i) * step + low);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    // Written so that NaN is refused.
    if (!(bin >= 0 && bin <= static_cast<double>(length / 2)))
      return invalid_argument(fmt::format(
          "a band edge of {} Hz is outside the spectrum at a sample rate of {} Hz", hertz, rate));
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

Status shape_of_mel_weights(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t bands, known_size(node, kBands, 1, kMaxBands));
  MILLRACE_ASSIGN_OR_RETURN(const int64_t length, known_size(node, kLength, 1));
  MILLRACE_RETURN_IF_ERROR(known_size(node, kRate, 1).status());
  MILLRACE_RETURN_IF_ERROR(known_frequency(node, kLowest).status());
  MILLRACE_RETURN_IF_ERROR(known_frequency(node, kHighest).status());
  MILLRACE_ASSIGN_OR_RETURN(const DataType type,
                            type_of_number(node.integer("output_datatype", 1)));
  MILLRACE_RETURN_IF_ERROR(edges_of(node).status());
  node.set(0, type, {length / 2 + 1, bands});
  return {};
}

// Returns the weight of a bin in the triangular band between three edges.
double weight_of(int64_t bin, int64_t begin, int64_t top, int64_t end) {
  if (bin == top) return 1;
  if (bin > begin && bin < top)
    return static_cast<double>(bin - begin) / static_cast<double>(top - begin);
  if (bin > top && bin < end)
    return static_cast<double>(end - bin) / static_cast<double>(end - top);
  return 0;
}

Status mel_weights(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<int64_t> edges, edges_of(call));
  const size_t bands = edges.size() - 2;
  return fill(call, [&](size_t i) {
    const size_t band = i % bands;
    return weight_of(static_cast<int64_t>(i / bands), edges[band], edges[band + 1],
                     edges[band + 2]);
  });
}

constexpr AttributeSpec kWindow[] = {{"output_datatype", AttributeKind::kInteger},
                                     {"periodic", AttributeKind::kInteger}};
constexpr AttributeSpec kMel[] = {{"output_datatype", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> signal_window_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"BlackmanWindow", 17, {}, {}, kIndexTypes, shape_of_window, blackman_window, kWindow},
      {"HammingWindow", 17, {}, {}, kIndexTypes, shape_of_window, hamming_window, kWindow},
      {"HannWindow", 17, {}, {}, kIndexTypes, shape_of_window, hann_window, kWindow},
      {"MelWeightMatrix", 17, {5, 5}, {}, kIndexTypes, shape_of_mel_weights, mel_weights, kMel},
  };
  return kOperators;
}

}  // namespace millrace::fallback
