// PacedDevice: wraps another device (the inner device), and takes the times of a third one, which a
// profile states (pace_profile.h). A job computes on the inner device and then occupies its lane
// until the time of the profile has passed, so that the queues, the waits and the back-pressure of
// a program are those that it will meet on the other device. If the profile has the times of
// operators, each step or partition also begins no earlier than there.
//
// A job that takes longer here than the profile says takes as long as it needs; the log names its
// model once. "paced-null" computes nothing, and so keeps any pace.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "device/paced/pace_profile.h"

namespace millrace::device {

// "paced-cpu" is the paced device that wraps "cpu" (registry.h).
inline constexpr const char* kPacedPrefix = "paced-";
// Names the file of the profile.
inline constexpr const char* kPaceVariable = "MILLRACE_PACE";

// Reads the profile that MILLRACE_PACE names. kInvalidArgument if it is not set, or the profile is
// invalid.
Result<PaceProfile> pace_of_environment();

class PacedDevice final : public Device {
 public:
  // Keeps both.
  PacedDevice(std::shared_ptr<Device> inner, PaceProfile profile);

  std::string name() const override { return kPacedPrefix + inner_->name(); }
  std::string description() const override;
  graph::Capabilities capabilities() const noexcept override { return inner_->capabilities(); }
  Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override;
  Result<std::shared_ptr<const Program>> load_for_rank(
      std::shared_ptr<const graph::CompiledModel> model,
      std::shared_ptr<ranks::Communicator> communicator) override;
  queue::Lanes& lanes() noexcept override { return inner_->lanes(); }
  Status transfer(void* to, const void* from, size_t bytes,
                  queue::RunControl& control) noexcept override;
  std::shared_ptr<queue::AcceptanceOrder> acceptance_order(Work work) noexcept override {
    return inner_->acceptance_order(work);
  }

 private:
  std::shared_ptr<const Program> paced(std::shared_ptr<const Program> inner) const;

  const std::shared_ptr<Device> inner_;
  const std::shared_ptr<const PaceProfile> profile_;
};

}  // namespace millrace::device
