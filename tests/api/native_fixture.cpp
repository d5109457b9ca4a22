#include "tests/api/native_fixture.h"

#include <thread>

#include "device/registry.h"
#include "tests/support/gated_device.h"

namespace millrace::test {

JobMemory::JobMemory(const Model& model, uint32_t frames) : frames_(frames) {
  for (uint32_t frame = 0; frame < frames; ++frame) {
    inputs_.emplace_back(Buffer::allocate(model.inputs()[0].cpu.bytes).value());
    outputs_.emplace_back(Buffer::allocate(model.outputs()[0].cpu.bytes).value());
  }
}

JobArgs JobMemory::args(JobCallback callback, Deadline deadline) const {
  return {.inputs = inputs_,
          .outputs = outputs_,
          .frames = frames_,
          .deadline = deadline,
          .callback = std::move(callback)};
}

NativeApi::NativeApi()
    : behind_(device::open_device(kGatedDevice, {.lanes = 2}).value()),
      faults_(device::faults_of(*behind_)),
      device_(Device::open(kGatedDevice).value()),
      model_(load_tiny(device_)),
      memory_(model_) {
  faults_->hold();
}

NativeApi::~NativeApi() {
  let_everything_go(*faults_);
  // A thread that hung keeps the device, which the next test is to find new.
  while (behind_->lanes().quarantined() != 0) std::this_thread::yield();
}

Model NativeApi::load_tiny(Device& device, const TinyModelOptions& options) {
  const std::string path = directory_.file("tiny.rai");
  EXPECT_TRUE(write_tiny_model(path, options).ok());
  return device.load(path).value();
}

Unit NativeApi::make_unit(UnitOptions options) {
  return device_.create_unit(std::move(options)).value();
}

Job NativeApi::submit(Unit& unit) {
  return unit.submit(model_, memory_.args()).value();
}

Job NativeApi::submit_started(Unit& unit, uint64_t started) {
  Job job = submit(unit);
  faults().await_arrivals(started);
  return job;
}

}  // namespace millrace::test
