// Describes in JSON, beside the directory form of an archive, how the partitions of a model that
// does not run on the NPU alone are connected. It is for human readers and tools: Millrace does not
// read it. Thread-safe.
#pragma once

#include <vector>

#include "graph/compiled_model.h"
#include "model/archive_writer.h"

namespace millrace::graph {

// Returns connectivity_metadata.json (the order in which the parts run, and every tensor that
// passes from one part to another) and one subgraph.json per part; nothing if all partitions run on
// the NPU. Requirement: decode() would accept the model.
std::vector<model::SideFile> describe_parts(const CompiledModel& model);

}  // namespace millrace::graph
