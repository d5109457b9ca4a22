// Makes the lines in which `millrace compile` describes the HW views of quantised tensors.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "graph/compiled_model.h"
#include "quantise/measure/hw_view_cost.h"

namespace millrace::cli {

// Returns a line, without newline, for each quantised input and output whose HW view has integers.
// It states their type, scale and zero point and, if these are not the model's own, the error that
// the difference causes. Integers that the model itself declares have a line, too. `cost` holds
// measurements on samples, or is null; with it, the last line states how well the outputs agree.
// Requirement: the model is static.
std::vector<std::string> hw_view_lines(const graph::CompiledModel& model,
                                       const quantise::HwViewCost* cost);

}  // namespace millrace::cli
