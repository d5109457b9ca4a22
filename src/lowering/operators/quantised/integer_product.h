// Integer matrix products with a FLOAT32 result (MatMulInteger, then scaling), for operators that
// continue with that.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// The operands of an integer matrix product. Absent zero points and an absent bias are kNoValue.
struct IntegerProduct {
  ValueId a, b, a_scale, b_scale, a_zero, b_zero, bias;
};

// Emits (a - a_zero)(b - b_zero) * a_scale * b_scale + bias, as FLOAT32.
Result<ValueId> scaled_product(NodeImport& node, const IntegerProduct& product);

}  // namespace millrace::lowering
