// Turns the graph of a lowering into a model that devices load: runs the passes (pass_table.h) over
// it, checks it, and assembles it (assemble.h).
#pragma once

#include <string>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "lowering/options.h"

namespace millrace::lowering {

// Optimises the graph, checks that there is a kernel for every node, and makes a model of it.
// options.on_stage is called on this thread, before the first pass and after each one.
// Requirement: graph::validate(graph) is OK. kInvalidArgument: bad options (see assemble.h), or an
// inconsistent graph; the message names the pass and the node. kUnsupported: nodes without a
// kernel, or a larger arena than an archive may ask for.
Result<graph::CompiledModel> finish(graph::Graph graph, const LoweringOptions& options,
                                    std::string name);

}  // namespace millrace::lowering
