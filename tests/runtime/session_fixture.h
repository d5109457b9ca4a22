// Sessions on a device whose jobs wait at a gate, and memory to bind to their jobs.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/session.h"
#include "tests/support/gated_device.h"
#include "tests/support/tiny_model.h"

namespace millrace::runtime {

inline constexpr std::chrono::milliseconds kForever = std::chrono::minutes(5);
inline constexpr std::chrono::milliseconds kPoll{0};

// Memory for the tensors of one job of the tiny model.
class JobMemory {
 public:
  explicit JobMemory(const graph::CompiledModel& model, uint32_t frames = 1,
                     device::View view = device::View::kHw);

  JobBindings bindings() const { return {frames_, inputs_, outputs_}; }
  std::vector<TensorBinding>& inputs() { return inputs_; }
  std::vector<TensorBinding>& outputs() { return outputs_; }
  template <class T = uint8_t>
  T* input(uint32_t frame = 0) {
    return static_cast<T*>(inputs_[frame].data);
  }
  template <class T = uint8_t>
  T* output(uint32_t frame = 0) {
    return static_cast<T*>(outputs_[frame].data);
  }

 private:
  uint32_t frames_;
  std::vector<TensorBinding> inputs_, outputs_;
};

class GatedSession : public ::testing::Test {
 protected:
  ~GatedSession() override;

  device::FaultPlan& faults() { return *gated_.faults; }

  std::unique_ptr<Session> make_session(SessionOptions options = {},
                                        test::TinyModelOptions model = {});

  test::GatedDevice gated_ = test::make_gated_device(2);
  const std::shared_ptr<device::Device>& device_ = gated_.device;
};

}  // namespace millrace::runtime
