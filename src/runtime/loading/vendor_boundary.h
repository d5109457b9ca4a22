// check_vendor_boundary(): rejects models with tensors that the vendors' APIs cannot describe.
// Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::runtime {

// kUnsupported, naming the tensor, if an input or output of the model is FLOAT64, a type that these
// APIs do not have, or has no elements: in their descriptions a dimension of zero means that it is
// missing.
Status check_vendor_boundary(const graph::CompiledModel& model);

}  // namespace millrace::runtime
