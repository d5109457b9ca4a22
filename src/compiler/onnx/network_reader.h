// From a model file to a Network.
//
// Resolves what the file leaves to its readers: nodes are in an order in which they can run,
// attributes have kinds, domains have one name each, and 16-bit floats and doubles of constants are
// FLOAT32. Only the constants that nodes read stay in memory, once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::compiler {

// kNotFound, kIoError; kCorruptData: no ONNX protobuf, or tensors that contradict themselves;
// kInvalidArgument: an inconsistent model (the message names the node); kUnsupported: opsets, types
// of inputs and outputs, or initializers that are not supported.
Result<network::Network> read_network_file(const std::string& path);

// The same for the content of a file; external tensors are searched in `directory`.
Result<network::Network> read_network(std::string_view content,
                                      const std::filesystem::path& directory);

}  // namespace millrace::compiler
