// Models with any number of tensors, each output the Relu of one input. The pair:
//
//   "values" [1, 6]        -> "positive_values"   GENERIC in both views
//   "image"  [1, 3, 4, 4]  -> "positive_image"    HW view [4, 1, 4, 1, 4]  HCWNC4
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/tiny_model.h"

namespace millrace::test {

// An output "positive_NAME" for every input NAME: its Relu.
graph::CompiledModel relu_model(const std::vector<std::pair<std::string, graph::Dims>>& inputs,
                                uint32_t batch_size = 1);

graph::CompiledModel pair_model(uint32_t batch_size = 1);

}  // namespace millrace::test
