// Faults on the device of a cycle. The device must be open when this is made.
#pragma once

#include <memory>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "tests/failing_resources/cycle.h"

namespace millrace::test {

class CycleFaults {
 public:
  explicit CycleFaults(const CycleInput& input) {
    auto device = device::open_device(input.faulty_device());
    if (device.ok()) plan_ = device::faults_of(**device);
  }
  // However the cycle ends, its jobs do, too.
  ~CycleFaults() {
    if (plan_ == nullptr) return;
    plan_->heal();
    plan_->release();
  }
  CycleFaults(const CycleFaults&) = delete;
  CycleFaults& operator=(const CycleFaults&) = delete;

  explicit operator bool() const noexcept { return plan_ != nullptr; }
  device::FaultPlan* operator->() const noexcept { return plan_.get(); }

 private:
  std::shared_ptr<device::FaultPlan> plan_;
};

}  // namespace millrace::test
