// A device whose jobs wait at a gate: tests hold jobs in flight for as long as they want, let a
// given number through, and make jobs fail.
//
// A job that passes writes a byte pattern into its outputs: every byte is the first byte of the
// first input plus one.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "tensor/desc.h"

namespace millrace::test {

// Any thread. Frames are what passes: a job of n frames passes n times.
class Gate {
 public:
  // Everything passes from now on.
  void open() {
    change([this] { open_ = true; });
  }
  // Nothing that arrives from now on passes, but what let_through() allows.
  void close() {
    change([this] { open_ = false, allowed_ = arrived_; });
  }
  // Lets so many more frames pass a closed gate, in the order of their arrival.
  void let_through(uint32_t frames) {
    change([&] { allowed_ += frames; });
  }
  // Every frame fails with `status` after it passed; OK ends that.
  void fail_with(Status status) {
    change([&] { failure_ = std::move(status); });
  }

  // Returns when at least so many frames have arrived at the gate since it was made.
  void await_arrivals(uint32_t frames) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= frames; });
  }
  uint32_t arrivals() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }
  // The largest number of frames that were at the gate or behind it at the same time.
  uint32_t most_at_once() {
    const std::lock_guard lock(mutex_);
    return most_at_once_;
  }

  // What a context does. Returns the status its frame ends with.
  Status pass() {
    std::unique_lock lock(mutex_);
    const uint32_t number = ++arrived_;
    most_at_once_ = std::max(most_at_once_, ++inside_);
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || number <= allowed_; });
    --inside_;
    return failure_;
  }

 private:
  template <class Change>
  void change(Change&& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  uint32_t allowed_ = 0;  // arrivals, from the first, that pass a closed gate
  uint32_t arrived_ = 0;
  uint32_t inside_ = 0;
  uint32_t most_at_once_ = 0;
  Status failure_;
};

class GateContext final : public device::Context {
 public:
  GateContext(std::shared_ptr<Gate> gate, const graph::CompiledModel& model)
      : gate_(std::move(gate)), model_(model) {}

  Status run(std::span<const device::Binding> inputs,
             std::span<const device::Binding> outputs) noexcept override {
    MILLRACE_RETURN_IF_ERROR(gate_->pass());
    const auto pattern = static_cast<uint8_t>(*static_cast<const uint8_t*>(inputs[0].data) + 1);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const graph::Boundary& output = model_.outputs[i];
      const bool hw = outputs[i].view == device::View::kHw;
      fill(static_cast<uint8_t*>(outputs[i].data), (hw ? *output.hw : output.cpu).bytes(), pattern);
    }
    return {};
  }

 private:
  // Atomically byte by byte: tests that only count jobs let several of them share one output.
  static void fill(uint8_t* data, size_t bytes, uint8_t pattern) {
    for (size_t i = 0; i < bytes; ++i)
      std::atomic_ref(data[i]).store(pattern, std::memory_order_relaxed);
  }

  std::shared_ptr<Gate> gate_;
  const graph::CompiledModel& model_;
};

// Accepts the HW view where there is one, as real devices do, so that the runtime converts for it.
class GateProgram final : public device::Program {
 public:
  GateProgram(std::shared_ptr<Gate> gate, std::shared_ptr<const graph::CompiledModel> model)
      : gate_(std::move(gate)), model_(std::move(model)) {}

  const graph::CompiledModel& model() const noexcept override { return *model_; }
  bool accepts(device::Direction direction, size_t index,
               device::View view) const noexcept override {
    const bool input = direction == device::Direction::kInput;
    const graph::Boundary& boundary = (input ? model_->inputs : model_->outputs)[index];
    return (view == device::View::kHw) == boundary.hw.has_value();
  }
  Result<std::unique_ptr<device::Context>> create_context() const override {
    return std::unique_ptr<device::Context>(std::make_unique<GateContext>(gate_, *model_));
  }
  device::ProgramInfo info() const override {
    return {.device = "gate", .precision = model_->precision, .note = {}, .steps = {}};
  }

 private:
  std::shared_ptr<Gate> gate_;
  std::shared_ptr<const graph::CompiledModel> model_;
};

class GateDevice final : public device::Device {
 public:
  explicit GateDevice(std::shared_ptr<Gate> gate, uint32_t lanes = 2)
      : gate_(std::move(gate)), lanes_({.count = lanes}) {}

  std::string name() const override { return "gate"; }
  Result<std::shared_ptr<const device::Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override {
    return std::shared_ptr<const device::Program>(
        std::make_shared<GateProgram>(gate_, std::move(model)));
  }
  queue::Lanes& lanes() noexcept override { return lanes_; }

 private:
  std::shared_ptr<Gate> gate_;
  queue::Lanes lanes_;
};

}  // namespace millrace::test
