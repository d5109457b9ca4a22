// Functions that a model defines for itself.
#pragma once

#include <onnx/onnx_pb.h>

#include "base/status.h"

namespace millrace::compiler {

// Puts the bodies of the model's functions in the place of the nodes that call them, in subgraphs
// and in other functions, too; the model has none left then. What a body makes gets names that
// nothing else in the model has. kInvalidArgument: a function that calls itself, or is defined
// twice; kUnsupported: one of another operator set than the model, or calls that make the model
// far larger than its file.
Status inline_functions(::onnx::ModelProto& model);

}  // namespace millrace::compiler
