// FaultSettings: what the text of a fault plan says (MILLRACE_FAULTS, MILLRACE_TRANSFER_FAULTS;
// docs/faults.md has the grammar). Plain data.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/status.h"
#include "device/faulty/fault_rule.h"

namespace millrace::device {

// The default duration of a hang: until FaultPlan::end_hangs().
inline constexpr std::chrono::nanoseconds kHangForever = std::chrono::nanoseconds::max();

// Returns the default failure of a job, kDeviceFailed.
const Status& injected_failure();

// Random faults, each drawn independently for every frame.
struct FaultRates {
  double fail = 0, hang = 0, slow = 0;  // probabilities, 0 to 1
  Status failure = injected_failure();
  std::chrono::nanoseconds hang_for = kHangForever;
  std::chrono::nanoseconds slow_for = std::chrono::milliseconds(1);
};

struct FaultSettings {
  uint64_t fail = 0;                 // number of the job that fails, 1 for the next; 0: none
  uint64_t fail_every = 0;           // every n-th job fails; 0: none
  uint64_t hang = 0;                 // number of the job that hangs; 0: none
  std::chrono::nanoseconds slow{0};  // every frame takes this much longer
  uint64_t seed = 0;                 // of the random faults, also those of the rules
  FaultRates rates;                  // `failure` and `hang_for` apply to the faults above as well
  FaultRules rules = {};
};

}  // namespace millrace::device
