// Products of quantised factors, for operators that continue with them.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Factors of a product of integers; zero points and a bias that are absent are kNoValue.
struct IntegerProduct {
  ValueId a, b, a_scale, b_scale, a_zero, b_zero, bias;
};

// The product as FLOAT32, times both scales, plus the bias.
Result<ValueId> scaled_product(NodeImport& node, const IntegerProduct& product);

}  // namespace millrace::lowering
