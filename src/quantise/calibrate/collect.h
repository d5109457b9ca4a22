// Calibration: runs a model on samples and collects statistics of its values (ranges, means,
// histograms), from which range.h chooses quantisation ranges.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"
#include "quantise/calibrate/value_statistics.h"

namespace millrace::quantise {

// Statistics by value of the graph; empty for values that were not requested.
using Calibration = std::vector<std::optional<ValueStatistics>>;

// Runs the model on all samples, on the CPU device. `wanted` says by value whether to collect its
// statistics; only graph inputs and results of nodes, all FLOAT32, may be wanted. The channel axis
// is the last dimension of the first operand of a MatMul, and dimension 1 of all other values.
//
// kInvalidArgument: there are no samples, a sample does not fit the model, or a wanted value has a
// NaN or an infinity; the message names the value and the sample. Other errors are the device's.
Result<Calibration> calibrate(const graph::CompiledModel& model, std::span<const Sample> samples,
                              const std::vector<bool>& wanted);

}  // namespace millrace::quantise
