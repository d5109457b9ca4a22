// Collectives: nodes that run on the communicator of the program.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu {

// Lowers a collective (graph/collective.h) of several ranks. kInvalidArgument where the program has
// no communicator, or one of another size; false, and nothing has been added, where the group is
// this rank alone. Requirement: the node has the outputs that its shape function gives.
Result<bool> lower_collective(Builder& builder, const graph::Node& node, const graph::Fallback& op);

}  // namespace millrace::device::cpu
