// Operands of quantised operators, whose scale and zero point are operands of their own: the node
// is expressed by DequantizeLinear, what it computes, and QuantizeLinear. The passes make operators
// on quantised values of that.
#pragma once

#include <initializer_list>

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// kUnsupported where the operator should be computed by its own kernel: a scale (one of `scales`,
// by index) or the zero point behind it is no constant, or all is wanted as it is written.
Status check_parameters(NodeImport& node, std::initializer_list<size_t> scales);

// The numbers of operand `index`, whose scale and zero point are behind it, with parameters along
// `axis` where they are lists. kInvalidArgument where operand or scale is left out.
Result<ValueId> dequantised(NodeImport& node, size_t index, int64_t axis = 1);

// The numbers of a constant bias of INT32, operand `index`, whose scale is the product of two
// others; the last dimension is theirs where they are lists. kNoValue where it is left out;
// kUnsupported where it is no constant, or one number for several scales.
Result<ValueId> dequantised_bias(NodeImport& node, size_t index, size_t a_scale, size_t b_scale,
                                 float factor = 1);

// `x` with the scale that is operand `scale`, and the zero point behind it.
Result<ValueId> quantised(NodeImport& node, ValueId x, size_t scale);

}  // namespace millrace::lowering
