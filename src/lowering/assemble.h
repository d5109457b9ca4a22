// The last step of the compiler: turns an optimised graph into a graph::CompiledModel, the content
// of an archive. It places the nodes on partitions, describes the two views of every input and
// output, and plans the arena. The result follows from the arguments alone: thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "lowering/options.h"

namespace millrace::lowering {

// Places all nodes (place_nodes()), describes the CPU view and the HW view of every input and
// output, and gives every value that one node makes for another a range in the arena.
//
// The type of an HW view is that of the integers where a FLOAT32 input is only quantised or a
// FLOAT32 output is only dequantised (in the vendor's form, if options.hw_quantisation says so).
// Otherwise it is the storage type of the precision for FLOAT32, FP16 and BF16 tensors, and the
// tensor's own type for all others. An input that a CPU or collective partition reads, and an
// output that such a partition makes, have no HW view.
//
// Requirement: graph::validate(graph) is OK. kInvalidArgument if the batch size is 0;
// options.cpu_operators has a name that matches no node; options.hw_layouts names a tensor that is
// no input or output (the message lists these) or has no HW view, or a layout that the tensor
// cannot have; a dimension of an input or output does not fit into 32 bits; or an archive cannot
// hold a name. kUnsupported if the values need a larger arena than an archive may ask for.
Result<graph::CompiledModel> assemble(graph::Graph graph, const LoweringOptions& options,
                                      std::string name);

}  // namespace millrace::lowering
