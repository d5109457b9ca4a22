// The requirements of a CompiledModel beyond a valid graph. Devices and faces rely on them without
// checking again. Private to the archive codec.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::graph {

// Names, unique on each side, and scales of the boundary tensors.
Status check_boundary_names(const CompiledModel& model);

// Names, scales, and both views of every boundary tensor against the graph's values.
// Requirement: the graph is valid.
Status check_boundaries(const CompiledModel& model);

// The partitions follow one another and cover all nodes; those of collectives have all collectives
// and nothing else; no boundary off the NPU has an HW view. Requirement: check_boundaries() and
// graph::validate() are OK.
Status check_partitions(const CompiledModel& model);

// Every planned range lies in the arena and is large enough for its value, and no two values share
// memory while both are in use, except where an operator writes its result over an operand.
// Requirement: the graph is valid.
Status check_plan(const CompiledModel& model);

// Everything of a model with a network: the network itself, boundaries that are those of the
// network with dimensions that may be open, and nothing of what models with a graph have.
// Requirement: `model.network` is not null.
Status check_dynamic(const CompiledModel& model);

}  // namespace millrace::graph
