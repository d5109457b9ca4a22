// From the graph of a lowering to a model that devices load: passes, placement, memory plan.
#pragma once

#include <string>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "lowering/options.h"

namespace millrace::lowering {

// Optimises the graph, checks that there is a kernel for every node, and makes a model of it.
// Requirement: graph::validate(graph) is OK. kInvalidArgument: bad options (see assemble.h), or an
// inconsistent graph, naming the pass and the node; kUnsupported: nodes without a kernel, or too
// much memory.
Result<graph::CompiledModel> finish(graph::Graph graph, const LoweringOptions& options,
                                    std::string name);

}  // namespace millrace::lowering
