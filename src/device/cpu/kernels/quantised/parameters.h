// The requirements of kernels on integers for the quantisation of their operands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "tensor/element.h"

namespace millrace::device::cpu::kernels::quantised {

// The scale and the zero point of a value of bytes that has one of each for all its elements;
// nothing for other values.
std::optional<tensor::ElementRule> rule_of(const Builder& builder, graph::ValueId id);

// Whether both have a rule_of(), and the same bytes stand for the same numbers.
bool same_form(const Builder& builder, graph::ValueId a, graph::ValueId b);

// The integers of a value in a dense layout without padding: where they are, or plain.
Result<Operand> dense(Builder& builder, graph::ValueId id);

// A constant of bytes without zero points.
struct Weights {
  std::vector<int8_t> elements;  // C order
  std::vector<float> scales;     // one, or one per index of `axis`

  float scale(size_t index) const { return scales[scales.size() > 1 ? index : 0]; }
};

// The weights that a constant is; nothing where its scales go along another dimension than `axis`,
// or an element less its zero point is no INT8.
std::optional<Weights> weights_of(const Builder& builder, graph::ValueId id, uint32_t axis);

// The largest magnitude of a sum of products of UINT8 elements with one of the rows of weights,
// each `row` elements that follow each other. It is also that of what a zero point adds to such a
// sum.
int64_t largest_sum(std::span<const int8_t> weights, size_t row);

// oneDNN takes sums through FP32, in which a sum beyond this is rounded. Those that are exact
// also are so less what a zero point has added to them.
inline constexpr int64_t kLargestExactSum = int64_t{1} << 24;

}  // namespace millrace::device::cpu::kernels::quantised
