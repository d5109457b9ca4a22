// The quantisation that kernels on integers require of their operands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "tensor/element.h"

namespace millrace::device::cpu::kernels::quantised {

// Returns the scale and the zero point of a value of bytes that has one of each for all its
// elements. Returns nothing for other values.
std::optional<tensor::ElementRule> rule_of(const Builder& builder, graph::ValueId id);

// Whether both have a rule_of(), and it is the same for the same type of bytes.
bool same_quantisation(const Builder& builder, graph::ValueId a, graph::ValueId b);

// Returns the integers of a value in a dense layout without padding: in their present layout, or
// plain.
Result<Operand> dense(Builder& builder, graph::ValueId id);

// A constant of bytes without zero points.
struct Weights {
  std::vector<int8_t> elements;  // C order
  std::vector<float> scales;     // one, or one per index of `axis`

  float scale(size_t index) const { return scales[scales.size() > 1 ? index : 0]; }
};

// Returns the weights of a constant. Returns nothing if its scales go along another dimension than
// `axis`, or if an element less its zero point does not fit INT8.
std::optional<Weights> weights_of(const Builder& builder, graph::ValueId id, uint32_t axis);

// Returns the largest magnitude of a sum of products of UINT8 elements with a row of weights, which
// has `row` contiguous elements. It also bounds the part of a sum that a zero point adds.
int64_t largest_sum(std::span<const int8_t> weights, size_t row);

// oneDNN converts sums to FP32, which rounds sums that are larger than this. Exact sums stay exact
// when the part of the zero point is subtracted.
inline constexpr int64_t kLargestExactSum = int64_t{1} << 24;

}  // namespace millrace::device::cpu::kernels::quantised
