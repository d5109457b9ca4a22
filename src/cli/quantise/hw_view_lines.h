// What `millrace compile` says of the HW views of quantised inputs and outputs.
#pragma once

#include <string>
#include <vector>

#include "graph/compiled_model.h"
#include "quantise/measure/hw_view_cost.h"

namespace millrace::cli {

// A line without its end for each quantised input and output that has an HW view of integers: its
// form, and what that costs by comparison with the model's own where it is another one; `cost`, or
// null, is what was measured on samples. Integers that the model itself declares have a line, too.
// Empty where there are none. Requirement: the model is static.
std::vector<std::string> hw_view_lines(const graph::CompiledModel& model,
                                       const quantise::HwViewCost* cost);

}  // namespace millrace::cli
