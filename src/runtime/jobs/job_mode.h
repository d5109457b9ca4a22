// JobMode: what the lanes of a device are for, where a job can use more than one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace millrace::runtime {

enum class JobMode : uint8_t {
  kAdaptive,    // a job on its own has all lanes, and each of several has one
  kLatency,     // the jobs of a session run one after another, each on all lanes
  kThroughput,  // a job has one lane, whatever the others do
};

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kJobModeNames = {"adaptive", "latency",
                                                                  "throughput"};

// `own`, which the program asks for, or else what the environment variable MILLRACE_JOB_MODE says:
// one of the names, in any case; kAdaptive where it is empty or not set. kInvalidArgument names the
// variable and what it takes. Thread-safe, unless the environment is being changed.
Result<JobMode> job_mode_in_force(std::optional<JobMode> own = {});

}  // namespace millrace::runtime
