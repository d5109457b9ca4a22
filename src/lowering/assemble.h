// The last step of the compiler: turns an optimised graph into the content of an archive.
#pragma once

#include <string>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "lowering/options.h"

namespace millrace::lowering {

// Gives all nodes their partitions (see place_nodes), every boundary tensor its two views (the HW
// view in the precision of the program, an integer tensor's in its own type, that of a FLOAT32
// tensor that is nothing but quantised or dequantised in the integers; none on a CPU partition),
// and every value that one node makes for another a range in the arena. Requirement:
// graph::validate(graph) is OK. kInvalidArgument when the batch size is 0, options.cpu_operators
// names no operator of the graph, options.hw_layouts names no boundary tensor (the message lists
// those there are), one on a CPU partition or a layout that the tensor cannot have, a boundary
// dimension does not fit into 32 bits, or a name is none that an archive can hold; kUnsupported
// when the values take more memory than an archive can ask for.
Result<graph::CompiledModel> assemble(graph::Graph graph, const LoweringOptions& options,
                                      std::string name);

}  // namespace millrace::lowering
