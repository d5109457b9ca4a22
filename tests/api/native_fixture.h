// The native API on the faulty device over "null": tests hold jobs at its gate, make them fail and
// hang. Nothing is computed; tests that need results use "cpu".
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "millrace/millrace.hpp"
#include "tests/support/gated_device.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {

inline constexpr std::chrono::minutes kForever{5};
inline constexpr std::chrono::nanoseconds kPoll{0};
inline constexpr const char* kGatedDevice = "faulty-null";

// Memory for the tensors of one job, in the CPU view.
class JobMemory {
 public:
  explicit JobMemory(const Model& model, uint32_t frames = 1) : frames_(frames) {
    for (uint32_t frame = 0; frame < frames; ++frame) {
      inputs_.emplace_back(Buffer::allocate(model.inputs()[0].cpu.bytes).value());
      outputs_.emplace_back(Buffer::allocate(model.outputs()[0].cpu.bytes).value());
    }
  }

  JobArgs args(JobCallback callback = {}, Deadline deadline = kNoDeadline) const {
    return {.inputs = inputs_,
            .outputs = outputs_,
            .frames = frames_,
            .deadline = deadline,
            .callback = std::move(callback)};
  }
  std::vector<TensorArg>& inputs() { return inputs_; }
  std::vector<TensorArg>& outputs() { return outputs_; }

 private:
  const uint32_t frames_;
  std::vector<TensorArg> inputs_, outputs_;
};

class NativeApi : public ::testing::Test {
 protected:
  NativeApi() { faults_->hold(); }
  ~NativeApi() override {
    let_everything_go(*faults_);
    // A thread that hung keeps the device, which the next test is to find new.
    while (behind_->lanes().quarantined() != 0) std::this_thread::yield();
  }

  device::FaultPlan& faults() { return *faults_; }

  Model load_tiny(Device& device, const TinyModelOptions& options = {}) {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(write_tiny_model(path, options).ok());
    return device.load(path).value();
  }
  Unit make_unit(UnitOptions options = {}) {
    return device_.create_unit(std::move(options)).value();
  }
  Job submit(Unit& unit) { return unit.submit(model_, memory_.args()).value(); }
  // A job that has started: it waits at the gate. `started` is how many have, with this one.
  Job submit_started(Unit& unit, uint64_t started = 1) {
    Job job = submit(unit);
    faults().await_arrivals(started);
    return job;
  }

 private:
  const TemporaryDirectory directory_;
  // The same device as the one below.
  const std::shared_ptr<device::Device> behind_ =
      device::open_device(kGatedDevice, {.lanes = 2}).value();
  const std::shared_ptr<device::FaultPlan> faults_ = device::faults_of(*behind_);

 protected:
  Device device_ = Device::open(kGatedDevice).value();
  const Model model_ = load_tiny(device_);
  const JobMemory memory_{model_};
};

}  // namespace millrace::test
