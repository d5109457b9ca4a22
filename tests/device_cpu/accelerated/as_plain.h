// Compares fast lowerings of fallback operators with the plain kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tests/device_cpu/reference.h"

namespace millrace::device::cpu {

// An operand: a constant or an input of the model; absent without a type.
struct Given {
  tensor::DataType type = tensor::DataType::kFloat32;
  Tensor elements;
  bool is_constant = false;
};

inline Given input_of(const graph::Dims& dims, uint32_t seed) {
  return {tensor::DataType::kFloat32, Tensor::numbers(dims, seed), false};
}
inline Given constant_of(const graph::Dims& dims, uint32_t seed) {
  return {tensor::DataType::kFloat32, Tensor::numbers(dims, seed), true};
}
inline Given constant(tensor::DataType type, Tensor elements) {
  return {type, std::move(elements), true};
}
inline Given input(tensor::DataType type, Tensor elements) {
  return {type, std::move(elements), false};
}
inline Given absent() {
  return {tensor::DataType::kUnknown, {}, false};
}

struct Case {
  graph::Fallback op;
  std::vector<Given> operands;
  size_t outputs = 1;
};

// Tolerance of the outputs, relative to the largest element.
struct Tolerance {
  double fp32 = 2e-6;
  double bf16 = 2e-2;
};

// Runs the case by a fast lowering, on partitions of both kinds and in both precisions, and
// expects what the plain kernel gives.
void expect_as_plain(const Case& test, const Tolerance& tolerance = {});
// The same for a variant that no fast lowering takes.
void expect_left_to_plain(const Case& test);
// Returns the results on an NPU partition in FP32, by a fast lowering if there is one.
std::vector<Tensor> results_of(const Case& test);

}  // namespace millrace::device::cpu
