// Runs a model on the CPU device and compares.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "tests/device_cpu/reference.h"

namespace millrace::device::cpu {

// The one CPU device of the test program.
Device& cpu_device();

// Loads a model that must load.
std::shared_ptr<const Program> load(std::shared_ptr<const graph::CompiledModel> model);

// Runs one frame whose inputs are given as plain numbers, every boundary bound in its HW view where
// it has one and `view` asks for it, else in its CPU view where the program accepts that. The
// outputs come back as plain numbers.
std::vector<Tensor> run(const Program& program, const std::vector<Tensor>& inputs,
                        View view = View::kHw);

// Does the same with `execute`, which runs one job with these inputs and outputs.
using Execute = std::function<Status(std::span<const Binding>, std::span<const Binding>)>;
std::vector<Tensor> run(const Program& program, const std::vector<Tensor>& inputs, View view,
                        const Execute& execute);

// Loads and runs a model with one output.
Tensor run_model(std::shared_ptr<const graph::CompiledModel> model,
                 const std::vector<Tensor>& inputs, View view = View::kHw);

// The largest difference, relative to the largest expected magnitude, stays within `tolerance`.
void expect_close(const Tensor& actual, const Tensor& expected, double tolerance);
inline double tolerance_of(graph::Precision precision) {
  return precision == graph::Precision::kBf16 ? 1e-2 : 1e-5;
}

// The implementations of steps for graph nodes, "Conv jit:avx512_core" for example.
std::vector<std::string> implementations(const Program& program);
size_t count_steps(const Program& program, const std::string& operation);

}  // namespace millrace::device::cpu
