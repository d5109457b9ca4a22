// Finding: one hazard that the checker has seen. Values; thread-safe as such.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/input_sum.h"
#include "check/stack.h"

namespace millrace::check {

enum class Hazard : uint8_t {
  kSharedOutput,
  kUnorderedUse,
  kInputWritten,
  kEarlyAccess,
  kFreedInFlight,
  kMissingSync,
  kWaitedTwice,
  kNeverWaited,
  kIgnoredStatus,
  kSlowCallback,
  kBusyPolling,
};
inline constexpr size_t kHazards = static_cast<size_t>(Hazard::kBusyPolling) + 1;

// Returns the name in reports, such as "shared_output".
std::string_view name_of(Hazard hazard) noexcept;
// Returns how a program avoids the hazard.
std::string_view remedy_of(Hazard hazard) noexcept;

struct TensorPlace {
  std::string role;  // "input" or "output"
  std::string name;
  uint32_t index = 0;
  uint32_t frame = 0;
  uintptr_t address = 0;
  size_t bytes = 0;
};

// A place in the program, such as that where a job was submitted.
struct Place {
  std::string what;
  Stack stack;
};

// The points in the life of a job at which its inputs are examined.
enum class JobPoint : uint8_t { kSubmitted, kStarted, kCompleted };
// Returns "submitted", "started" or "completed".
std::string_view name_of(JobPoint point) noexcept;

// Between which two points an input was written, and the part of it that has changed.
struct Written {
  JobPoint after = JobPoint::kSubmitted, before = JobPoint::kCompleted;
  ByteRange bytes;
};

struct Finding {
  Hazard hazard = Hazard::kSharedOutput;
  std::string message;
  std::vector<std::string> jobs{};  // their names
  std::optional<TensorPlace> tensor{};
  std::vector<Place> places{};
  std::optional<Written> written{};
  pid_t thread = 0;  // where it was seen
};

// Returns a number that is the same for findings of one kind about the same tensor and the same
// calls of the program. Looks no names up.
uint64_t fingerprint_of(const Finding& finding);
// Returns the lines of text for a finding, without line ends.
std::vector<std::string> text_of(const Finding& finding);
// Returns the finding as an object of JSON on one line, with a line end.
std::string json_of(const Finding& finding);

}  // namespace millrace::check
