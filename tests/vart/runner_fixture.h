// Runners on a tiny model, on a device of the test's choice.
#pragma once

#include <gtest/gtest.h>

#include <any>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/registry.h"
#include "tests/support/gated_device.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

using ::vart::JobHandle;
using ::vart::MemoryType;
using ::vart::NpuTensor;
using ::vart::NpuTensorInfo;
using ::vart::Runner;
using ::vart::RunnerFactory;
using ::vart::RunnerType;
using ::vart::StatusCode;
using ::vart::TensorDirection;
using ::vart::TensorType;

using Options = std::unordered_map<std::string, std::any>;
using Tensors = std::vector<std::vector<NpuTensor>>;

inline constexpr std::chrono::milliseconds kForever = std::chrono::minutes(5);

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() { use_device("null"); }
  ~RunnerTest() override {
    unsetenv("MILLRACE_DEVICE");
    unsetenv("MILLRACE_PLUGIN_DIR");
  }

  static void use_device(const std::string& name) { setenv("MILLRACE_DEVICE", name.c_str(), 1); }

  // The path of a compiled tiny model.
  std::string model(const test::TinyModelOptions& options = {}) {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(test::write_tiny_model(path, options).ok());
    return path;
  }

  std::shared_ptr<Runner> make_runner(const Options& options = {},
                                      const test::TinyModelOptions& model_options = {}) {
    return RunnerFactory::create_runner(RunnerType::VAIML, model(model_options), options);
  }

  static Tensors allocate(const Runner& runner, TensorDirection direction,
                          TensorType type = TensorType::HW, size_t frames = 1) {
    Tensors tensors(frames);
    for (std::vector<NpuTensor>& frame : tensors)
      for (const NpuTensorInfo& info : runner.get_tensors_info(direction, type))
        frame.push_back(runner.allocate_npu_tensor(info));
    return tensors;
  }
  static Tensors inputs(const Runner& runner, size_t frames = 1, TensorType type = TensorType::HW) {
    return allocate(runner, TensorDirection::INPUT, type, frames);
  }
  static Tensors outputs(const Runner& runner, size_t frames = 1,
                         TensorType type = TensorType::HW) {
    return allocate(runner, TensorDirection::OUTPUT, type, frames);
  }

  template <class T = uint8_t>
  static T* data(NpuTensor& tensor) {
    return static_cast<T*>(tensor.get_virtual_address());
  }

  test::TemporaryDirectory directory_;
};

// Jobs wait at `gate_`, on a device with two lanes, until the test lets them pass.
class GatedRunnerTest : public RunnerTest {
 protected:
  GatedRunnerTest() {
    setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
    use_device("faulty-pattern");
    device_ = device::open_device("faulty-pattern", {.lanes = 2}).value();
    gate_ = device::faults_of(*device_);
    gate_->hold();
  }
  ~GatedRunnerTest() override { test::let_everything_go(*gate_); }

  std::shared_ptr<device::Device> device_;  // kept, so that runners get the same one
  std::shared_ptr<device::FaultPlan> gate_;
};

}  // namespace millrace::vartml
