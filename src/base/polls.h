// Polls: tells observers (base/hooks.h) that a thread asks again and again whether a request is
// complete, instead of waiting in a call. A stretch of such calls is one wait: it begins with the
// first call that finds its request incomplete, and ends with the first one that finds a request
// complete. However often a thread asks, there are few events. Thread-safe.
#pragma once

#include <cstdint>

#include "base/hooks.h"

namespace millrace {

// Set in the detail of kWaitBegan and kWaited if they are of polls; the lower half is the
// StatusCode: kOk of a request that was found complete, kPending of one that was not.
inline constexpr uint64_t kPolled = uint64_t{1} << 32;

namespace polls_internal {
void note(uint64_t sequence, bool is_completed) noexcept;
void note_range(uint64_t begin, uint64_t last) noexcept;
}  // namespace polls_internal

// Call when the program has asked whether the request with this sequence id is complete.
inline void note_poll(uint64_t sequence, bool is_completed) noexcept {
  if (hooks_observed()) [[unlikely]]
    polls_internal::note(sequence, is_completed);
}
// Call when the program has learned that the requests from `begin` to `last` are complete. It need
// not have asked for them.
inline void note_poll_of_range(uint64_t begin, uint64_t last) noexcept {
  if (hooks_observed()) [[unlikely]]
    polls_internal::note_range(begin, last);
}

}  // namespace millrace
