// FaultRule: one rule of a fault plan's text, such as "fail:jobs=5-9,model=glyphs,p=10%". It
// selects jobs and says what happens to them.
//
// Whether a rule selects a job depends only on the rule, its position in the plan, the plan's seed
// and the facts of the job, so it is the same in every run, on any number of lanes. The draws of
// different rules are independent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device/paced/service_times.h"

namespace millrace::device {

enum class FaultAction : uint8_t {
  kFail,  // the job fails instead of running; what else is selected is refused
  kHang,  // it blocks, even if a stop is requested, and then runs
  kSlow,  // it takes longer
  kNan,   // it runs, and outputs of floating point are filled with NaN
};

// Says what a rule selects.
enum class FaultSubject : uint8_t {
  kJobs,
  kAllocations,  // of memory that the program asks for
  kCalls,        // calls that submit a job and may find its queue full
  kDescriptors,  // uses of file descriptors by which memory and events are shared
};

struct FaultRule {
  FaultAction action = FaultAction::kFail;
  Status failure = {};               // kFail
  std::chrono::nanoseconds time{0};  // kHang and kSlow
  // kSlow: a mean and a 99th percentile of how much longer jobs take, instead of `time`.
  std::chrono::nanoseconds mean{0}, p99{0};
  std::optional<ServiceTimes> times = {};  // the distribution that has them
  std::string output = {};                 // kNan: the name of the output; empty: all of them
  FaultSubject subject = FaultSubject::kJobs;
  std::string unit = {};   // the name of the unit of the job; empty: any
  std::string model = {};  // the name of its model; empty: any
  uint64_t first = 1;      // the first and the last job
  uint64_t last = std::numeric_limits<uint64_t>::max();
  uint64_t every = 1;  // of these jobs, every n-th
  double probability = 1;
  std::string text = {};  // as the plan has it, for messages
};

using FaultRules = std::vector<FaultRule>;

// The most rules of one plan: the rules that select a frame are kept as bits of a word.
inline constexpr size_t kMostFaultRules = 64;

// Holds the facts of a job that rules can use.
struct FaultedJob {
  uint64_t number = 0;  // among the jobs that the device has accepted, from 1
  uint16_t frame = 0;
  std::string_view unit = {};   // the name of its unit
  uint64_t number_in_unit = 0;  // among the jobs that this unit has accepted, from 1
  std::string_view model = {};
};

// Returns whether the rule with this index in the plan selects the job or, if it is of another
// subject, the one with that number. Only the first frame of a job is selected. A rule that names a
// unit counts the jobs, or the calls, of that unit.
bool selects(const FaultRule& rule, size_t index, uint64_t seed, const FaultedJob& job) noexcept;

// Returns how much longer a job takes that a rule of kSlow selects.
std::chrono::nanoseconds delay_of(const FaultRule& rule, size_t index, uint64_t seed,
                                  const FaultedJob& job) noexcept;

// Returns whether an event of this probability happens to the frame of a job. Events of different
// kinds, 1 to 255, are independent.
bool is_drawn(uint64_t seed, uint64_t job, uint16_t frame, uint64_t kind,
              double probability) noexcept;

}  // namespace millrace::device
