// Storage for constants that handlers compute, within the folding budget.
#pragma once

#include <string_view>

#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Returns storage for a constant of this type and shape. kUnsupported if it has too many elements
// or exceeds the folding budget, since a hostile model may state any shape; `what` names the
// constant in the message. The bytes are taken from the budget when the constant is added
// (NodeImport::add_computed()).
Result<MutableConstant> bounded_constant(NodeImport& node, tensor::DataType type, graph::Dims shape,
                                         std::string_view what);

}  // namespace millrace::lowering
