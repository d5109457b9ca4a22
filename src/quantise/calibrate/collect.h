// Calibration: runs a model on samples and keeps what its values were.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"
#include "quantise/calibrate/value_statistics.h"

namespace millrace::quantise {

// Statistics of each value of the graph; nothing for those that were not asked for.
using Calibration = std::vector<std::optional<ValueStatistics>>;

// Runs the model on all samples. `wanted` says, for each value, of which to keep statistics: graph
// inputs and what nodes make, all FLOAT32. Channels are the last dimension of what matrix products
// read, and dimension 1 of all other values.
//
// kInvalidArgument: there are no samples, one does not fit the model, or an input or a wanted value
// has a NaN or an infinity, with the names of value and sample; otherwise as the device fails.
Result<Calibration> calibrate(const graph::CompiledModel& model, std::span<const Sample> samples,
                              const std::vector<bool>& wanted);

}  // namespace millrace::quantise
