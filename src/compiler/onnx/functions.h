// Inlines the functions that a model defines (model-local functions, FunctionProto). Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

#include "base/status.h"

namespace millrace::compiler {

// Replaces all nodes that call functions of the model by the bodies of these functions, also in
// subgraphs and in other functions, and removes the functions from the model. Values of a body get
// names that are unique in the model. kInvalidArgument: a function calls itself, or is defined
// twice. kUnsupported: a function uses another opset than the model, or the calls make the model
// far larger than its file.
Status inline_functions(::onnx::ModelProto& model);

}  // namespace millrace::compiler
