// FaultyDevice: wraps another device (the inner device) and injects faults. Each frame first passes
// a fault plan (fault_plan.h), and then runs on the inner device, whose lanes it uses and whose
// models and results it has.
//
// Tests wrap devices of their own; programs open it by name: "faulty-cpu" is the faulty device that
// wraps "cpu" (registry.h).
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "device/faulty/fault_plan.h"

namespace millrace::device {

// "faulty-cpu" is the faulty device that wraps "cpu"; "faulty" alone wraps "null".
inline constexpr const char* kFaultyDeviceName = "faulty";
inline constexpr const char* kFaultyPrefix = "faulty-";
inline constexpr const char* kFaultsVariable = "MILLRACE_FAULTS";
inline constexpr const char* kTransferFaultsVariable = "MILLRACE_TRANSFER_FAULTS";

class FaultyDevice final : public Device {
 public:
  // Keeps both pointers.
  explicit FaultyDevice(std::shared_ptr<Device> inner,
                        std::shared_ptr<FaultPlan> faults = std::make_shared<FaultPlan>());

  std::string name() const override { return kFaultyPrefix + inner_->name(); }
  std::string description() const override { return "faulty: " + inner_->description(); }
  graph::Capabilities capabilities() const noexcept override { return inner_->capabilities(); }
  Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override;
  Result<std::shared_ptr<const Program>> load_for_rank(
      std::shared_ptr<const graph::CompiledModel> model,
      std::shared_ptr<ranks::Communicator> communicator) override;
  queue::Lanes& lanes() noexcept override { return inner_->lanes(); }

  // A transfer passes the fault plan of transfers, as a frame passes that of jobs.
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

// Return the fault plans of a faulty device for jobs and for transfers; null for any other device.
// Thread-safe.
std::shared_ptr<FaultPlan> faults_of(Device& device);
std::shared_ptr<FaultPlan> transfer_faults_of(Device& device);

// Replaces the faults of a faulty device by those of MILLRACE_FAULTS and MILLRACE_TRANSFER_FAULTS,
// as far as these are set; numbers count from the next job or transfer. Does nothing for any other
// device. For a caller that starts again on a device that may have had faults before.
// kInvalidArgument if a variable is invalid.
Status apply_faults_of_environment(Device& device);

// Creates a faulty device that wraps `inner`, with the faults of the environment variables
// MILLRACE_FAULTS and MILLRACE_TRANSFER_FAULTS. kInvalidArgument if one is invalid, or if `inner`
// is a faulty device.
Result<std::shared_ptr<Device>> create_faulty_device(std::shared_ptr<Device> inner);

}  // namespace millrace::device
