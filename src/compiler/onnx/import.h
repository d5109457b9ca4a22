// ONNX import: a model file becomes a graph::Graph of canonical operators with static shapes.
//
// Everything the model leaves open is settled here: batch and symbolic dimensions, opset variants,
// optional attributes, shape computations (they fold to constants). The graph computes in FLOAT32
// what the model computes in 16-bit or 64-bit floats; Cast operators at its boundary keep the types
// that callers see.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/onnx/input_shapes.h"
#include "graph/graph.h"

namespace millrace::compiler {

// Imports the file at `path`. A leading dimension that the model leaves open is 1; other open
// dimensions must be given in `input_shapes` (input name -> full shape), which may also change a
// leading dimension.
//
// kNotFound, kIoError; kCorruptData: no ONNX protobuf, or tensors that contradict themselves;
// kInvalidArgument: wrong `input_shapes`, open dimensions, or an inconsistent model (the message
// names the node); kUnsupported: one message with every operator that is not covered, its domain,
// opset and first nodes, those inside the branches of an If included, and with every operator
// that has no kernel for the types it meets (graph/capability.h). What reads the result of a node
// that is not covered has no known types or shapes: it is looked up by the name of its operator,
// and counted.
Result<graph::Graph> import_onnx_file(const std::string& path, const InputShapes& input_shapes);

// The same for the content of a file; external tensors are searched in `directory`.
Result<graph::Graph> import_onnx(std::string_view content, const std::filesystem::path& directory,
                                 const InputShapes& input_shapes);

}  // namespace millrace::compiler
