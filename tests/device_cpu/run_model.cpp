#include "tests/device_cpu/run_model.h"
#include "tests/support/test_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "device/registry.h"
#include "tensor/conversion/conversion.h"

namespace millrace::device::cpu {
namespace {

using tensor::DataType;
using tensor::TensorDesc;

TensorDesc as_floats(const TensorDesc& desc) {
  TensorDesc floats = desc;
  floats.type = DataType::kFloat32;
  return floats;
}

// One boundary tensor's memory in one view.
struct Bound {
  const graph::Boundary* boundary;
  View view;
  std::vector<std::byte> bytes;

  const TensorDesc& desc() const { return view == View::kHw ? *boundary->hw : boundary->cpu; }
  tensor::Conversion conversion() const {
    return tensor::Conversion::plan(as_floats(boundary->cpu), desc(), boundary->quant).value();
  }
};

Bound bind(const Program& program, Direction direction, size_t index, View wanted) {
  const auto& boundaries =
      direction == Direction::kInput ? program.model().inputs : program.model().outputs;
  Bound bound{&boundaries[index], wanted, {}};
  if (!program.accepts(direction, index, wanted))
    bound.view = wanted == View::kHw ? View::kCpu : View::kHw;
  bound.bytes.resize(bound.desc().bytes());
  return bound;
}

std::vector<Binding> bindings(std::vector<Bound>& bounds) {
  std::vector<Binding> result;
  for (Bound& bound : bounds) result.push_back({bound.bytes.data(), bound.view});
  return result;
}

}  // namespace

Device& cpu_device() {
  static const std::shared_ptr<Device> device = open_device("cpu", {.lanes = 1}).value();
  return *device;
}

std::shared_ptr<const Program> load(std::shared_ptr<const graph::CompiledModel> model) {
  auto program = cpu_device().load(std::move(model));
  if (!program.ok()) throw std::runtime_error(program.status().to_string());
  return *program;
}

std::vector<Tensor> run(const Program& program, const std::vector<Tensor>& inputs, View view) {
  const auto context = program.create_context();
  if (!context.ok()) throw std::runtime_error(context.status().to_string());
  return run(program, inputs, view, [&](const auto& in, const auto& out) {
    test::TestRun control;
    return (*context)->run(in, out, control);
  });
}

std::vector<Tensor> run(const Program& program, const std::vector<Tensor>& inputs, View view,
                        const Execute& execute) {
  std::vector<Bound> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(bind(program, Direction::kInput, i, view));
    in.back().conversion().to_hw(inputs[i].data.data(), in.back().bytes.data());
  }
  for (size_t i = 0; i < program.model().outputs.size(); ++i)
    out.push_back(bind(program, Direction::kOutput, i, view));
  const Status status = execute(bindings(in), bindings(out));
  if (!status.ok()) throw std::runtime_error(status.to_string());
  std::vector<Tensor> outputs;
  for (const Bound& bound : out) {
    outputs.push_back(Tensor::zeros(program.model().graph.values[bound.boundary->value].shape));
    bound.conversion().to_cpu(bound.bytes.data(), outputs.back().data.data());
  }
  return outputs;
}

Tensor run_model(std::shared_ptr<const graph::CompiledModel> model,
                 const std::vector<Tensor>& inputs, View view) {
  return run(*load(std::move(model)), inputs, view).at(0);
}

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.dims, expected.dims);
  double largest = 1e-30, worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(expected.data[i])));
    const double difference = std::fabs(static_cast<double>(actual.data[i]) - expected.data[i]);
    // Written so that a NaN counts as a difference.
    if (difference <= worst) continue;
    worst = difference;
    where = i;
  }
  EXPECT_LE(worst / largest, tolerance) << "at element " << where << ": " << actual.data[where]
                                        << " instead of " << expected.data[where];
}

std::vector<std::string> implementations(const Program& program) {
  std::vector<std::string> names;
  for (const StepInfo& step : program.info().steps)
    if (!step.node.empty()) names.push_back(step.operation + " " + step.implementation);
  return names;
}

size_t count_steps(const Program& program, const std::string& operation) {
  const auto steps = program.info().steps;
  return static_cast<size_t>(std::ranges::count(steps, operation, &StepInfo::operation));
}

}  // namespace millrace::device::cpu
