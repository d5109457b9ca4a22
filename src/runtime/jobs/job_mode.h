// JobMode: how the jobs of a session share the lanes of a device, since an operator can use several
// of them (queue/lanes/team.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace millrace::runtime {

enum class JobMode : uint8_t {
  kAdaptive,    // a job uses all lanes that are idle: all of them if it is alone
  kLatency,     // the jobs of a session run one after another, each on all idle lanes
  kThroughput,  // a job uses one lane, even if others are idle
};

// The names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kJobModeNames = {"adaptive", "latency",
                                                                  "throughput"};

// Returns `own` if the program sets it, otherwise the value of the environment variable
// MILLRACE_JOB_MODE, which is one of the names, in upper or lower case; kAdaptive if that is empty
// or not set. kInvalidArgument for any other value. Thread-safe, as long as no thread changes the
// environment.
Result<JobMode> job_mode_in_force(std::optional<JobMode> own = {});

}  // namespace millrace::runtime
