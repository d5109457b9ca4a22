// The elements of constants as numbers. Thread-safe.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace millrace::device::cpu {

// Of a constant that is floating point or quantised, in the order in which the model has them.
std::vector<float> constant_numbers(const graph::Value& constant);

}  // namespace millrace::device::cpu
