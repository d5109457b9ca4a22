// Rejects tensors that the APIs of the vendors cannot describe. Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::runtime {

// kUnsupported, naming the tensor, where an input or output of the model is FLOAT64, which is no
// type of these APIs, or has no elements, which their descriptions read as missing.
Status check_vendor_boundary(const graph::CompiledModel& model);

}  // namespace millrace::runtime
