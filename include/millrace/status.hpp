// Status and Result: the types by which every layer reports failure.
//
// A Status is one shared pointer, two machine words. OK is the null pointer, so success allocates
// nothing. A failure has a code, which says what the caller can do about it, and a message, which
// says what happened and to what. Copies share both. Objects of these types may be copied and read
// from several threads.
//
// Millrace reports failure through these types only: it never prints, exits or aborts, and it
// throws only in the vendor faces whose contract requires exceptions.
//
// Every layer of Millrace uses this header; it is also part of the native API.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace millrace {

// The list of codes: X(enumerator, text, what it means to the caller).
#define MILLRACE_STATUS_CODES(X)                                                            \
  X(kOk, "OK", "success")                                                                   \
  X(kPending, "PENDING", "not finished yet: ask again")                                     \
  X(kInvalidArgument, "INVALID_ARGUMENT", "the call is wrong: correct it")                  \
  X(kNotFound, "NOT_FOUND", "no such file, name or id")                                     \
  X(kInvalidJobId, "INVALID_JOB_ID", "id never issued, already collected, or too old")      \
  X(kQueueFull, "QUEUE_FULL", "nothing was changed: retry after a job completes")           \
  X(kOutOfMemory, "OUT_OF_MEMORY", "an allocation failed")                                  \
  X(kUnsupported, "UNSUPPORTED", "valid, but not offered here")                             \
  X(kCorruptData, "CORRUPT_DATA", "the bytes are not what they claim to be")                \
  X(kIoError, "IO_ERROR", "the operating system refused")                                   \
  X(kCancelled, "CANCELLED", "the job was cancelled before it finished")                    \
  X(kDeadlineExceeded, "DEADLINE_EXCEEDED", "the job's deadline passed before it finished") \
  X(kDropped, "DROPPED", "the job gave way to a newer one, as the unit's policy says")      \
  X(kHung, "HUNG", "the job made no progress and was given up")                             \
  X(kDeviceFailed, "DEVICE_FAILED", "the device failed while it ran the job")               \
  X(kUnitDegraded, "UNIT_DEGRADED", "the unit is degraded until it is reset")               \
  X(kNoLane, "NO_LANE", "no lane is left to run jobs on: restart the process")              \
  X(kClosed, "CLOSED", "the object was closed: make another one")                           \
  X(kBusy, "BUSY", "others hold what is needed: retry once they release it")                \
  X(kResourceExhausted, "RESOURCE_EXHAUSTED",                                               \
    "no thread or id is left: free some, or raise the limit")                               \
  X(kForked, "FORKED", "usable in the parent process only: fork earlier, or exec")          \
  X(kInternal, "INTERNAL", "a defect of Millrace or of a library that it uses")

enum class StatusCode : int {
#define MILLRACE_X(enumerator, text, meaning) enumerator,
  MILLRACE_STATUS_CODES(MILLRACE_X)
#undef MILLRACE_X
};

// Returns the text of a code, for example "QUEUE_FULL"; "UNKNOWN" for a value outside the list.
std::string_view to_string(StatusCode code) noexcept;

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;  // OK
  // If there is no memory for the message, the status has the meaning of its code, above, as its
  // message.
  Status(StatusCode code, std::string message) noexcept;
  Status(StatusCode code, const char* message) noexcept;

  bool ok() const noexcept { return rep_ == nullptr; }
  StatusCode code() const noexcept { return rep_ ? rep_->code : StatusCode::kOk; }
  // Returns the message; empty if the status is OK.
  const std::string& message() const noexcept;
  // Returns "OK", or "CODE: message".
  std::string to_string() const;
  // Returns a status with the same code and "context: " before the message; OK stays OK.
  Status with_context(std::string_view context) const noexcept;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  struct Meanings;
  template <class Message>
  static std::shared_ptr<const Rep> make_rep(StatusCode code, Message&& message) noexcept;
  std::shared_ptr<const Rep> rep_;
};

inline Status invalid_argument(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}
inline Status corrupt_data(std::string message) {
  return {StatusCode::kCorruptData, std::move(message)};
}
inline Status unsupported(std::string message) {
  return {StatusCode::kUnsupported, std::move(message)};
}
inline Status internal_error(std::string message) {
  return {StatusCode::kInternal, std::move(message)};
}
// Returns kIoError, or kNotFound for ENOENT, with the operating system's text for `error_number`, a
// value of errno.
Status io_error(std::string_view what, int error_number) noexcept;

// A value, or the status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  // `status` must not be OK.
  Result(Status status) : state_(std::move(status)) {}

  bool ok() const noexcept { return state_.index() == 1; }
  Status status() const { return ok() ? Status() : std::get<0>(state_); }

  // Requirement for the following functions: ok().
  T& value() & { return std::get<1>(state_); }
  const T& value() const& { return std::get<1>(state_); }
  T&& value() && { return std::get<1>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> state_;
};

}  // namespace millrace
