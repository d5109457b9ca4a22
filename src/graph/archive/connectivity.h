// Describes in JSON, beside the archive's directory form, how the parts of a model with CPU
// partitions are connected. It is for human readers and tools: no reader of an archive looks at it.
#pragma once

#include <vector>

#include "graph/compiled_model.h"
#include "model/archive_writer.h"

namespace millrace::graph {

// connectivity_metadata.json (the order in which the parts run, and every tensor that goes from one
// to another) and one subgraph.json per part; nothing for a model without CPU partitions.
// Requirement: decode() would accept the model.
std::vector<model::SideFile> describe_parts(const CompiledModel& model);

}  // namespace millrace::graph
