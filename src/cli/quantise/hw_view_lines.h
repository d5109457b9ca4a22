// Makes the lines in which `millrace compile` describes the HW views of quantised tensors.
#pragma once

#include <string>
#include <vector>

#include "graph/compiled_model.h"
#include "quantise/measure/hw_view_cost.h"

namespace millrace::cli {

// Returns a line, without its end, for each quantised input and output whose HW view has integers.
// It states their form and, if that is not the model's own, what the difference costs; `cost` holds
// measurements on samples, or is null. Integers that the model itself declares have a line, too.
// There may be no lines. Requirement: the model is static.
std::vector<std::string> hw_view_lines(const graph::CompiledModel& model,
                                       const quantise::HwViewCost* cost);

}  // namespace millrace::cli
