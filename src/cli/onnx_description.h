// Describes what an ONNX file declares, without compiling it. One thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"
#include "cli/inspect/graph_drawing.h"

namespace millrace::cli {

// Returns {"name", "producer", "opsets": {domain: version}, "inputs": [{"name", "type", "shape"}],
// "outputs", "operators": {name: count}}. An open dimension is the name that the file gives it, or
// null; a shape that is not declared is null. Operators of subgraphs and of functions count, too.
// kNotFound, kIoError, kCorruptData, like the compiler's reader.
Result<nlohmann::ordered_json> describe_onnx(const std::string& path);

// Returns the nodes of the file and the tensors between them. Errors as describe_onnx().
Result<DrawnGraph> drawn_onnx(const std::string& path);

// Prints what describe_onnx() has returned as text.
void print_onnx(const nlohmann::ordered_json& description);

}  // namespace millrace::cli
