// How oneDNN's primitives on integers make their results: the sums are scaled, the activation
// is applied, the zero point is added, and the whole is rounded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/dnnl/attributes.h"
#include "device/cpu/dnnl/traits.h"
#include "graph/operators.h"
#include "tensor/element.h"

namespace millrace::device::cpu::kernels::quantised {

// The form in which a primitive stores: bytes by a rule, or FP32 with a rule that changes nothing.
struct ResultRule {
  ElementType type = ElementType::f32;
  tensor::ElementRule rule;
};

// Returns nothing for values that no primitive on integers can store, among them those whose scale
// has no reciprocal in FP32.
std::optional<ResultRule> result_of(const Builder& builder, graph::ValueId id);

// Whether a sum of `count` products of bytes, less their zero points, always fits the 32 bits that
// the primitives add up in.
constexpr bool sums_fit(int64_t count) {
  constexpr int64_t kLargestProduct = 255 * 255;
  return count <= INT32_MAX / kLargestProduct;
}

// Whether FP32 holds the factors from sums that count `sum_scales` to steps of the result, and the
// bias in sums: models may state scales whose products and quotients vanish or are infinite.
bool can_scale(const std::vector<float>& sum_scales, float step, const std::vector<float>& bias);

// Allocates memory for the result that result_of() describes.
Operand new_result(Builder& builder, graph::ValueId id, const Desc& desc);

// Appends the operands that a primitive with these attributes takes besides those of its operation.
void add_constants(Builder& builder, const IntegerAttributes& attributes,
                   std::vector<Argument>& arguments);

// Whether the primitives can apply the function to what they store.
bool can_append(const graph::Activation& function);

// The step in which the function wants its operand: that of the result, where multiples go through
// it unchanged, else 1.
float step_before(const graph::Activation& function, const ResultRule& result);

// Appends the function, from operands in step_before() to results in steps of the result.
// Requirement: can_append(function).
void append_activation(dnnl::post_ops& post_ops, const graph::Activation& function,
                       const ResultRule& result);

// Appends the rounding of what is then added to the zero point: with it in one number, less of a
// fraction is left, and a tie goes to an even sum. Nothing where there is no zero point.
void append_rounding(dnnl::post_ops& post_ops, const ResultRule& result);

// Appends what storing the result and reading it again does to it: operands are in its steps, and
// are rounded and saturated; results are in steps of `step`.
void append_storing(dnnl::post_ops& post_ops, const ResultRule& result, float step);

// Whether there is such a primitive, and it is none that exists for completeness only.
template <class PrimitiveDesc>
bool is_fast(const PrimitiveDesc& primitive) {
  return primitive.get(true) != nullptr && !is_reference(primitive.impl_info_str());
}

}  // namespace millrace::device::cpu::kernels::quantised
