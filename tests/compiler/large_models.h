// Makes ONNX models of any size, to measure how the cost of compiling grows. Each node has a name,
// as exporters write it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::compiler::test {

struct LargeModel {
  const char* name;                     // "ReluChain"
  const char* grows;                    // what the number counts: "nodes"
  std::string (*content)(size_t size);  // the bytes of its file
};

// Returns one model for each thing that a file may have many of.
std::vector<LargeModel> large_models();

// Makes models with many boundary tensors, which have a limit of their own.
std::string many_inputs(size_t count);
std::string many_outputs(size_t count);
// Makes Relus, which become one, or Identities, which disappear.
std::string relu_chain(size_t nodes);
std::string identity_chain(size_t nodes);
std::string attributes_of_one_node(size_t count);
// Makes `depth` Ifs, each in a branch of the one before; their condition is an input.
std::string nested_ifs(size_t depth);

// Compiles the content of a file through `path`, and decodes the archive from memory.
Status compile_and_decode(const std::string& content, const std::string& path);

}  // namespace millrace::compiler::test
