// The faulty device: any other device with a fault plan in front of it. A frame passes the plan
// first (fault_plan.h), then runs on the inner device. It runs on the inner device's lanes, takes
// what that takes, and computes what that computes.
//
// Tests make one over a device of their own; programs open it by name: "faulty-cpu" is a faulty
// device over "cpu" (registry.h).
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
inline constexpr const char* kFaultsVariable = "MILLRACE_FAULTS";
inline constexpr const char* kTransferFaultsVariable = "MILLRACE_TRANSFER_FAULTS";

class FaultyDevice final : public Device {
 public:
  // Keeps both.
  explicit FaultyDevice(std::shared_ptr<Device> inner,
                        std::shared_ptr<FaultPlan> faults = std::make_shared<FaultPlan>());

  std::string name() const override { return kFaultyPrefix + inner_->name(); }
  std::string description() const override { return "faulty: " + inner_->description(); }
  Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override;
  Result<std::shared_ptr<const Program>> load_for_rank(
      std::shared_ptr<const graph::CompiledModel> model,
      std::shared_ptr<ranks::Communicator> communicator) override;
  queue::Lanes& lanes() noexcept override { return inner_->lanes(); }

  // A transfer passes the plan of the transfers as a frame passes that of the jobs.
  Status transfer(void* to, const void* from, size_t bytes,
                  queue::RunControl& control) noexcept override;
  std::shared_ptr<queue::AcceptanceOrder> acceptance_order(Work work) noexcept override {
    return (work == Work::kJob ? faults_ : transfer_faults_)->order();
  }

  const std::shared_ptr<FaultPlan>& faults() const noexcept { return faults_; }
  const std::shared_ptr<FaultPlan>& transfer_faults() const noexcept { return transfer_faults_; }

 private:
  const std::shared_ptr<Device> inner_;
  const std::shared_ptr<FaultPlan> faults_;
  const std::shared_ptr<FaultPlan> transfer_faults_ = std::make_shared<FaultPlan>();
};

// The plan of a faulty device, null for any other. Thread-safe.
std::shared_ptr<FaultPlan> faults_of(Device& device);
// The plan of its transfers, likewise.
std::shared_ptr<FaultPlan> transfer_faults_of(Device& device);

// Makes the plans of a faulty device what MILLRACE_FAULTS and MILLRACE_TRANSFER_FAULTS ask for,
// counting from the next job or transfer, where they are set; nothing for any other device. For a
// caller that starts anew on a device that may have had faults before. kInvalidArgument when a
// variable makes no sense.
Status apply_faults_of_environment(Device& device);

// A faulty device over `inner` with the faults that the environment variables MILLRACE_FAULTS and
// MILLRACE_TRANSFER_FAULTS ask for. kInvalidArgument when one makes no sense, or when `inner` is a
// faulty device.
Result<std::shared_ptr<Device>> create_faulty_device(std::shared_ptr<Device> inner);

}  // namespace millrace::device
