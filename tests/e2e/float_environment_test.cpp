// In any floating-point environment of the program's thread, every face compiles,
// quantises, loads and runs models with the same bits, and does not change it.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "millrace/millrace.hpp"
#include "model/archive_writer.h"
#include "nrt/nrt.h"
#include "quantise/quantise.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/quantise/small_network.h"
#include "tests/support/float_environments.h"
#include "tests/support/temporary_directory.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kInputs = 192, kOutputs = 256;

const std::vector<quantise::Sample>& samples() {
  static const std::vector<quantise::Sample> made = quantise::random_samples(3);
  return made;
}

Bytes quantised_archive() {
  static const graph::CompiledModel whole = quantise::finish(quantise::small_graph()).value();
  quantise::QuantiseOptions options;
  options.finish = quantise::finish;
  auto made = quantise::quantise(whole, samples(), options);
  return made.ok() ? model::archive_bytes(graph::encode(made->model)) : Bytes();
}

// The model has integers whose scales and weights are prepared when it is loaded.
class FloatEnvironmentOfTheProgram : public ::testing::Test {
 protected:
  FloatEnvironmentOfTheProgram() {
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(archive_.data()),
               static_cast<std::streamsize>(archive_.size()));
  }

  const Bytes archive_ = quantised_archive();
  const Bytes input_ = samples().front().inputs[0];
  const TemporaryDirectory directory_;
  const std::string path_ = directory_.file("small.rai");
};

TEST_F(FloatEnvironmentOfTheProgram, HasNoEffectOnTheCompiler) {
  namespace onnx = compiler::test;
  onnx::Model model;
  model.input("x", {1, 2, 4, 4})
      .floats("w", {2, 2, 1, 1}, {0.1F, 0.7F, -0.3F, 1.3F})
      .floats("s", {2}, {0.3F, 1.7F})
      .floats("b", {2}, {0.1F, -0.7F})
      .floats("m", {2}, {0.2F, 0.9F})
      .floats("v", {2}, {0.7F, 1.1F})
      .node("Conv", {"x", "w"}, {"c"})
      .node("BatchNormalization", {"c", "s", "b", "m", "v"}, {"y"})
      .output("y");
  const std::string file = directory_.file("model.onnx");
  std::ofstream(file, std::ios::binary) << model.bytes();
  expect_same_in_every_float_environment([&] {
    const auto compiled = compiler::compile(file, {});
    return compiled.ok() ? model::archive_bytes(graph::encode(*compiled)) : Bytes();
  });
}

TEST_F(FloatEnvironmentOfTheProgram, HasNoEffectOnTheQuantiser) {
  ASSERT_FALSE(archive_.empty());
  expect_same_in_every_float_environment(quantised_archive);
}

TEST_F(FloatEnvironmentOfTheProgram, HasNoEffectOnTheNativeApi) {
  expect_same_in_every_float_environment([&] {
    Bytes output(kOutputs * sizeof(float));
    auto device = Device::open("cpu");
    if (!device.ok()) return Bytes();
    auto model = device->load(path_);
    auto unit = device->create_unit({});
    if (!model.ok() || !unit.ok()) return Bytes();
    Bytes input = input_;
    const std::vector<TensorArg> inputs = {TensorArg(std::span(input))};
    const std::vector<TensorArg> outputs = {TensorArg(std::span(output))};
    const bool executed = unit->execute(*model, {.inputs = inputs, .outputs = outputs}).ok();
    return executed ? output : Bytes();
  });
}

TEST_F(FloatEnvironmentOfTheProgram, HasNoEffectOnVart) {
  using vart::TensorDirection;
  using vart::TensorType;
  expect_same_in_every_float_environment([&] {
    const auto runner = vart::RunnerFactory::create_runner(
        vart::RunnerType::VAIML, path_,
        {{"input_tensor_type", std::string("CPU")}, {"output_tensor_type", std::string("CPU")}});
    std::vector<std::vector<vart::NpuTensor>> inputs(1), outputs(1);
    for (const auto& info : runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU))
      inputs[0].push_back(runner->allocate_npu_tensor(info));
    for (const auto& info : runner->get_tensors_info(TensorDirection::OUTPUT, TensorType::CPU))
      outputs[0].push_back(runner->allocate_npu_tensor(info));
    std::memcpy(inputs[0][0].get_virtual_address(), input_.data(), input_.size());
    std::promise<FloatRegisters> called;
    const vart::JobHandle job = runner->execute_async(
        inputs, outputs, [&](const vart::JobHandle&) { called.set_value(FloatRegisters::now()); });
    runner->wait(job, std::chrono::minutes(1));
    Bytes output(kOutputs * sizeof(float));
    std::memcpy(output.data(), outputs[0][0].get_virtual_address(), output.size());
    // Callbacks have the default environment.
    const FloatRegisters registers = called.get_future().get();
    output.push_back(std::byte(registers.x87_control & 0xff));
    output.push_back(std::byte((registers.sse >> 8) & 0xff));
    return output;
  });
}

TEST_F(FloatEnvironmentOfTheProgram, HasNoEffectOnNrt) {
  expect_same_in_every_float_environment([&]() -> Bytes {
    Bytes output(kOutputs * sizeof(float));
    nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
    nrt_model_t* model = nullptr;
    nrt_tensor_t *from = nullptr, *to = nullptr;
    nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;
    nrt_load(archive_.data(), archive_.size(), 0, 1, &model);
    nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, input_.size(), "x", &from);
    nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, output.size(), "last_y", &to);
    nrt_allocate_tensor_set(&inputs);
    nrt_allocate_tensor_set(&outputs);
    nrt_add_tensor_to_tensor_set(inputs, "x", from);
    nrt_add_tensor_to_tensor_set(outputs, "last_y", to);
    nrt_tensor_write(from, input_.data(), 0, input_.size());
    const NRT_STATUS executed = nrt_execute(model, inputs, outputs);
    nrt_tensor_read(to, output.data(), 0, output.size());
    nrt_destroy_tensor_set(&inputs);
    nrt_destroy_tensor_set(&outputs);
    nrt_tensor_free(&from);
    nrt_tensor_free(&to);
    nrt_unload(model);
    nrt_close();
    return executed == NRT_SUCCESS ? output : Bytes(1);
  });
}

}  // namespace
}  // namespace millrace::test
