// Reads ONNX files into Networks.
//
// The result is canonical: nodes are in topological order, attributes have kinds, each domain has
// one name, and constants of FP16 and BF16 are FLOAT32. Only constants that something reads stay in
// memory, once. Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::compiler {

// Reads a model file. kNotFound, kIoError; kCorruptData: not an ONNX protobuf, or inconsistent
// tensors; kInvalidArgument: an inconsistent model (the message names the node); kUnsupported:
// opsets, types of inputs and outputs, or initializers that are not supported.
Result<network::Network> read_network_file(const std::string& path);

// Reads the content of a file. Files of external data are searched in `directory`. Errors as for
// read_network_file().
Result<network::Network> read_network(std::string_view content,
                                      const std::filesystem::path& directory);

}  // namespace millrace::compiler
