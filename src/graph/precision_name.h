// Names the precision in which a program computes, for reports. Thread-safe.
#pragma once

#include <string>

#include "graph/compiled_model.h"

namespace millrace::graph {

// Returns "int8" if an operator computes on quantised values, whatever the others compute in;
// otherwise the name of `floats`, the precision of floating-point operators, such as "fp32".
std::string precision_name(const CompiledModel& model, Precision floats);

}  // namespace millrace::graph
