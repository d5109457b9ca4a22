// The inputs of a model: which they are, and with what static shapes.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "compiler/onnx/input_shapes.h"
#include "graph/graph.h"

namespace millrace::compiler {

struct InputDeclaration {
  std::string name;
  tensor::DataType type;
  graph::Dims shape;
};

// The inputs of `graph` without those that an initializer fills. See import_onnx_file() for how
// open dimensions are settled; a symbol fixed by the given shape of one input holds for all inputs.
// kInvalidArgument names the input, its dimensions and what to do.
Result<std::vector<InputDeclaration>> resolve_inputs(
    const ::onnx::GraphProto& graph, const std::unordered_set<std::string>& initializers,
    const InputShapes& input_shapes);

}  // namespace millrace::compiler
