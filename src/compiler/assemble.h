// The last step of the compiler: from an optimised graph to what an archive says.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/compiler.h"
#include "graph/compiled_model.h"

namespace millrace::compiler {

// Gives every boundary tensor its two views (the HW view in the precision of the program, an
// integer tensor's in its own type), all nodes one partition, and every value that nodes hand on a
// place in the arena. Requirement: graph::validate(graph) is OK. kInvalidArgument when the batch
// size is 0, options.hw_layouts names no boundary tensor (the message lists those there are) or a
// layout that the tensor cannot have, or a boundary dimension does not fit into 32 bits.
Result<graph::CompiledModel> assemble(graph::Graph graph, const CompileOptions& options,
                                      std::string name);

}  // namespace millrace::compiler
