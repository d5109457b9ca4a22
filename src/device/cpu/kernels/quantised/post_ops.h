// The epilogue of oneDNN's primitives on integers: sums are scaled, the activation is applied, the
// zero point is added, and the result is rounded.
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

// The type that a primitive stores: bytes by a rule, or FP32 with a rule that changes nothing.
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

// Whether FP32 can represent the factors from sums in `sum_scales` to the scale of the result, and
// the bias: models may state scales whose products and quotients underflow or overflow.
bool can_scale(const std::vector<float>& sum_scales, float scale, const std::vector<float>& bias);

// Allocates memory for the result that result_of() describes.
Operand new_result(Builder& builder, graph::ValueId id, const Desc& desc);

// Appends the operands that a primitive with these attributes takes besides those of its operation.
void add_constants(Builder& builder, const IntegerAttributes& attributes,
                   std::vector<Argument>& arguments);

// Whether the primitives can apply the function to their results.
bool can_append(const graph::Activation& function);

// Returns the scale in which the function takes its operand: that of the result if f(s * x) = s *
// f(x), otherwise 1.
float scale_before(const graph::Activation& function, const ResultRule& result);

// Appends the function, with operands in scale_before() and results in the scale of the result.
// Requirement: can_append(function).
void append_activation(dnnl::post_ops& post_ops, const graph::Activation& function,
                       const ResultRule& result);

// Appends rounding before the zero point is added, since ties would otherwise go to an even sum
// with the zero point, and fractions would lose bits. Appends nothing without a zero point.
void append_rounding(dnnl::post_ops& post_ops, const ResultRule& result);

// Appends the quantisation and dequantisation of a result that is not stored: operands are in its
// scale, and are rounded and saturated; results have the scale `scale`.
void append_storing(dnnl::post_ops& post_ops, const ResultRule& result, float scale);

// Whether there is such a primitive, and it is not one that exists for completeness only.
template <class PrimitiveDesc>
bool is_fast(const PrimitiveDesc& primitive) {
  return primitive.get(true) != nullptr && !is_reference(primitive.impl_info_str());
}

}  // namespace millrace::device::cpu::kernels::quantised
