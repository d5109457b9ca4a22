// The faulty device: any other device with a fault plan in front of it. A frame passes the plan
// first (fault_plan.h), then runs on the inner device. It runs on the inner device's lanes, takes
// what that takes, and computes what that computes.
//
// Tests make one over a device of their own; everybody else opens it by name: "faulty-cpu" is a
// faulty device over "cpu" (registry.h).
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "device/faulty/fault_plan.h"

namespace millrace::device {

// "faulty-cpu" is the faulty device over "cpu"; "faulty" alone is the one over "null".
inline constexpr const char* kFaultyDeviceName = "faulty";
inline constexpr const char* kFaultyPrefix = "faulty-";

class FaultyDevice final : public Device {
 public:
  // Keeps both.
  explicit FaultyDevice(std::shared_ptr<Device> inner,
                        std::shared_ptr<FaultPlan> faults = std::make_shared<FaultPlan>());

  std::string name() const override { return kFaultyPrefix + inner_->name(); }
  std::string description() const override { return "faulty: " + inner_->description(); }
  Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override;
  queue::Lanes& lanes() noexcept override { return inner_->lanes(); }

  const std::shared_ptr<FaultPlan>& faults() const noexcept { return faults_; }

 private:
  const std::shared_ptr<Device> inner_;
  const std::shared_ptr<FaultPlan> faults_;
};

// The plan of a faulty device, null for any other. Any thread.
std::shared_ptr<FaultPlan> faults_of(Device& device);

// A faulty device over `inner` with the faults that the environment variable MILLRACE_FAULTS asks
// for. kInvalidArgument when that makes no sense, or when `inner` is a faulty device.
Result<std::shared_ptr<Device>> create_faulty_device(std::shared_ptr<Device> inner);

}  // namespace millrace::device
