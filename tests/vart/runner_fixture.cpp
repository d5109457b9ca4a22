#include "tests/vart/runner_fixture.h"

#include <cstdlib>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "tests/support/gated_device.h"

namespace millrace::vartml {

RunnerTest::RunnerTest() {
  use_device("null");
}

RunnerTest::~RunnerTest() {
  unsetenv("MILLRACE_DEVICE");
  unsetenv("MILLRACE_PLUGIN_DIR");
}

void RunnerTest::use_device(const std::string& name) {
  setenv("MILLRACE_DEVICE", name.c_str(), 1);
}

std::string RunnerTest::model(const test::TinyModelOptions& options) {
  const std::string path = directory_.file("tiny.rai");
  EXPECT_TRUE(test::write_tiny_model(path, options).ok());
  return path;
}

std::shared_ptr<Runner> RunnerTest::make_runner(const Options& options,
                                                const test::TinyModelOptions& model_options) {
  return RunnerFactory::create_runner(RunnerType::VAIML, model(model_options), options);
}

Tensors RunnerTest::allocate(const Runner& runner, TensorDirection direction, TensorType type,
                             size_t frames) {
  Tensors tensors(frames);
  for (std::vector<NpuTensor>& frame : tensors)
    for (const NpuTensorInfo& info : runner.get_tensors_info(direction, type))
      frame.push_back(runner.allocate_npu_tensor(info));
  return tensors;
}

Tensors RunnerTest::inputs(const Runner& runner, size_t frames, TensorType type) {
  return allocate(runner, TensorDirection::INPUT, type, frames);
}

Tensors RunnerTest::outputs(const Runner& runner, size_t frames, TensorType type) {
  return allocate(runner, TensorDirection::OUTPUT, type, frames);
}

GatedRunnerTest::GatedRunnerTest() {
  setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
  use_device("faulty-pattern");
  device_ = device::open_device("faulty-pattern", {.lanes = 2}).value();
  gate_ = device::faults_of(*device_);
  gate_->hold();
}

GatedRunnerTest::~GatedRunnerTest() {
  test::let_everything_go(*gate_);
}

}  // namespace millrace::vartml
