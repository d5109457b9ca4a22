// A device whose jobs wait at a gate: tests hold jobs in flight for as long as they want, let a
// given number through, and make jobs fail, hang or take long. A job that gets through writes the
// pattern of pattern_device.h.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "device/faulty/fault_plan.h"

namespace millrace::test {

struct GatedDevice {
  std::shared_ptr<device::Device> device;
  std::shared_ptr<device::FaultPlan> faults;  // of that device; held at first
};

GatedDevice make_gated_device(uint32_t lanes = 2);

// Lets every job of the device continue. A frame that a failing test leaves at the gate would block
// a lane, and with it the end of the program.
void let_everything_go(device::FaultPlan& faults);

}  // namespace millrace::test
