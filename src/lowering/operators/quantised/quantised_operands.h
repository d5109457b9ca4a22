// Operands of quantised operators, whose scales and zero points are operands of their own. Such a
// node is expressed by DequantizeLinear, a floating-point operator, and QuantizeLinear; the passes
// turn these into an operator on quantised values (recognise_quantisation, keep_quantised).
#pragma once

#include <initializer_list>

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// kUnsupported if the operator should be computed by its own fallback kernel: because one of the
// operands `scales` (given by index), or a zero point, which is the operand after its scale, is no
// constant, or because of GraphBuilder::as_written().
Status check_parameters(NodeImport& node, std::initializer_list<size_t> scales);

// Emits DequantizeLinear of operand `index`, with operands `index + 1` and `index + 2` as scale and
// zero point. If these are vectors, they vary along `axis`. kInvalidArgument if the operand or its
// scale is left out.
Result<ValueId> dequantised(NodeImport& node, size_t index, int64_t axis = 1);

// Emits DequantizeLinear of a constant INT32 bias, operand `index`. Its scale is `factor` times the
// product of operands `a_scale` and `b_scale`; if that is a vector, it varies along the last
// dimension of the bias. Returns kNoValue if the bias is left out; kUnsupported if it is no
// constant, or does not have one element per scale in its last dimension.
Result<ValueId> dequantised_bias(NodeImport& node, size_t index, size_t a_scale, size_t b_scale,
                                 float factor = 1);

// Emits QuantizeLinear of `x`, with operands `scale` and `scale + 1` as scale and zero point.
// kInvalidArgument if the scale is left out.
Result<ValueId> quantised(NodeImport& node, ValueId x, size_t scale);

}  // namespace millrace::lowering
