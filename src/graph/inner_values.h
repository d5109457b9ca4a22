// Turns the intermediate values of a compiled model into outputs, for comparisons and calibration.
// Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::graph {

// Returns the model with every value that a node makes, and that is not yet an output, as a further
// output in the CPU view, in the order of the nodes. The nodes do not change, so intermediate
// results of nodes that passes have merged do not appear. The result shares the constants with
// `model`. It can be loaded, but is not meant for an archive. kInvalidArgument if a dimension does
// not fit into 32 bits.
Result<CompiledModel> with_inner_values(const CompiledModel& model);

}  // namespace millrace::graph
