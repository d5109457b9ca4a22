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
  RunnerTest();
  ~RunnerTest() override;

  static void use_device(const std::string& name);

  // The path of a compiled tiny model.
  std::string model(const test::TinyModelOptions& options = {});

  std::shared_ptr<Runner> make_runner(const Options& options = {},
                                      const test::TinyModelOptions& model_options = {});

  static Tensors allocate(const Runner& runner, TensorDirection direction,
                          TensorType type = TensorType::HW, size_t frames = 1);
  static Tensors inputs(const Runner& runner, size_t frames = 1, TensorType type = TensorType::HW);
  static Tensors outputs(const Runner& runner, size_t frames = 1, TensorType type = TensorType::HW);

  template <class T = uint8_t>
  static T* data(NpuTensor& tensor) {
    return static_cast<T*>(tensor.get_virtual_address());
  }

  test::TemporaryDirectory directory_;
};

// Jobs wait at `gate_`, on a device with two lanes, until the test lets them pass.
class GatedRunnerTest : public RunnerTest {
 protected:
  GatedRunnerTest();
  ~GatedRunnerTest() override;

  std::shared_ptr<device::Device> device_;  // kept, so that runners get the same one
  std::shared_ptr<device::FaultPlan> gate_;
};

}  // namespace millrace::vartml
