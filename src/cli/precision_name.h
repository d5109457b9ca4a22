// The precision in which a program computes, as commands name it. Thread-safe.
#pragma once

#include <string>

#include "graph/compiled_model.h"

namespace millrace::cli {

// "int8" where operators work on quantised values, whatever the rest computes in; else the name of
// `floats`, the precision of floating-point operators, as "fp32".
std::string precision_name(const graph::CompiledModel& model, graph::Precision floats);

}  // namespace millrace::cli
