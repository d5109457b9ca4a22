// ONNX models of any size, for what compiling costs as they grow. Each has a name for each node, as
// exporters write them.
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

// One for each thing that a file may have many of.
std::vector<LargeModel> large_models();

// Those of boundaries, which have a limit of their own.
std::string many_inputs(size_t count);
std::string many_outputs(size_t count);
// Relus that become one; Identities that become none.
std::string relu_chain(size_t nodes);
std::string identity_chain(size_t nodes);
std::string attributes_of_one_node(size_t count);
// `depth` Ifs, each in a branch of the one before, whose condition is an input.
std::string nested_ifs(size_t depth);

// Compiles the content of a file through `path`, and decodes the archive from memory.
Status compile_and_decode(const std::string& content, const std::string& path);

}  // namespace millrace::compiler::test
