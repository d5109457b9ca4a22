// The elements of constants as numbers. Thread-safe.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace millrace::device::cpu {

// Returns the numbers of a floating point or quantised constant, in the order of the model.
std::vector<float> constant_numbers(const graph::Value& constant);

}  // namespace millrace::device::cpu
