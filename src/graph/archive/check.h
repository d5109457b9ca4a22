// The requirements of a CompiledModel beyond those of a valid graph. Devices and faces rely on them
// without checking again. All checks return kCorruptData with the reason, and are thread-safe.
// Private to the archive codec.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::graph {

// Checks the number of inputs and outputs, their names (not empty, unique among inputs and among
// outputs) and the scales of their HW views.
Status check_boundary_names(const CompiledModel& model);

// Checks names, scales, and both views of every input and output against the values of the graph.
// Requirement: the graph is valid.
Status check_boundaries(const CompiledModel& model);

// Checks that the partitions are contiguous and cover all nodes; that collective partitions hold
// all collectives and nothing else; and that no input or output of a partition off the NPU has an
// HW view. Requirement: check_boundaries() and graph::validate() are OK.
Status check_partitions(const CompiledModel& model);

// Checks that every planned range lies in the arena and is large enough for its value, and that no
// two values share memory while both are live, except where an operator overwrites an operand with
// its result. Requirement: the graph is valid.
Status check_plan(const CompiledModel& model);

// Checks a model with a network: the network itself; that inputs and outputs match its
// declarations, with dimensions that may be open; the shape profiles; and that all parts of a model
// with a graph are empty. Requirement: `model.network` is not null.
Status check_dynamic(const CompiledModel& model);

}  // namespace millrace::graph
