// A compiled model whose inner values are outputs, too: for comparisons, calibration.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::graph {

// The model with every value that a node makes, and that is no output yet, as a further output in
// the CPU view, in the order in which they are made. The nodes stay as they are: what passes have
// merged has no value of its own. It shares the constants with `model`. For loading, not for an
// archive. kInvalidArgument where a dimension is too large for an output.
Result<CompiledModel> with_inner_values(const CompiledModel& model);

}  // namespace millrace::graph
