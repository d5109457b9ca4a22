// How the parts of a model with CPU partitions hang together, as JSON beside the archive's
// directory form. For people and tools: no reader of an archive looks at it.
#pragma once

#include <vector>

#include "graph/compiled_model.h"
#include "model/archive_writer.h"

namespace millrace::graph {

// connectivity_metadata.json (the order in which the parts run, and every tensor that goes from one
// to another) and one subgraph.json per part; nothing for a model without CPU partitions.
// Requirement: the model is what decode() would accept.
std::vector<model::SideFile> describe_parts(const CompiledModel& model);

}  // namespace millrace::graph
