// Storage for constants that handlers compute.
#pragma once

#include <string_view>

#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// A constant whose size follows from shapes, which a hostile model may claim. kUnsupported, naming
// `what` is too large, beyond the bound on what a model may compute.
Result<MutableConstant> bounded_constant(NodeImport& node, tensor::DataType type, graph::Dims shape,
                                         std::string_view what);

}  // namespace millrace::lowering
