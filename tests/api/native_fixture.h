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
  explicit JobMemory(const Model& model, uint32_t frames = 1);

  JobArgs args(JobCallback callback = {}, Deadline deadline = kNoDeadline) const;
  std::vector<TensorArg>& inputs() { return inputs_; }
  std::vector<TensorArg>& outputs() { return outputs_; }

 private:
  const uint32_t frames_;
  std::vector<TensorArg> inputs_, outputs_;
};

class NativeApi : public ::testing::Test {
 protected:
  NativeApi();
  ~NativeApi() override;

  device::FaultPlan& faults() { return *faults_; }

  Model load_tiny(Device& device, const TinyModelOptions& options = {});
  Unit make_unit(UnitOptions options = {});
  Job submit(Unit& unit);
  // A job that has started: it waits at the gate. `started` is how many have, with this one.
  Job submit_started(Unit& unit, uint64_t started = 1);

 private:
  const TemporaryDirectory directory_;
  // The same device as the one below.
  const std::shared_ptr<device::Device> behind_;
  const std::shared_ptr<device::FaultPlan> faults_;

 protected:
  Device device_;
  const Model model_;
  const JobMemory memory_;
};

}  // namespace millrace::test
