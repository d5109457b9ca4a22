#include "base/polls.h"

#include <utility>

#include "base/status.h"

namespace millrace::polls_internal {
namespace {

// The polls of a thread since they began; ids are 0 for none. Trivial, so that it can be used as
// long as the thread's memory exists.
struct Polls {
  uint64_t first = 0;        // the request that was asked for when they began
  uint64_t last = 0;         // the one that was asked for last
  bool is_repeated = false;  // the first one has been asked for again
  // Another one was found complete since the only poll of the first, which may have been waited for
  // in a call meanwhile.
  bool is_doubtful = false;
};

constinit thread_local Polls polls;

// A thread that asks in turn for several requests goes on with its polls. One that asks twice in
// succession for another request than the first has learned of that in another way, or no longer
// cares.
void note_incomplete(uint64_t sequence) noexcept {
  const bool asked_again = std::exchange(polls.last, sequence) == sequence;
  if (polls.first == sequence) {
    polls.is_repeated = true;
    return;
  }
  if (polls.first != 0 && !asked_again && !polls.is_doubtful) return;
  polls = {.first = sequence, .last = sequence, .is_repeated = asked_again};
  emit(HookPoint::kWaitBegan, sequence, kPolled);
}

// A single poll is no wait: the program has done something else about that request since.
void note_complete(uint64_t sequence) noexcept {
  const uint64_t first = polls.first;
  if (first == 0) return;
  if (first != sequence && !polls.is_repeated) {
    polls.is_doubtful = true;
    return;
  }
  polls = {};
  if (first != sequence)
    emit(HookPoint::kWaited, first, kPolled | static_cast<uint64_t>(StatusCode::kPending));
  emit(HookPoint::kWaited, sequence, kPolled | static_cast<uint64_t>(StatusCode::kOk));
}

}  // namespace

void note(uint64_t sequence, bool is_completed) noexcept {
  is_completed ? note_complete(sequence) : note_incomplete(sequence);
}

void note_range(uint64_t begin, uint64_t last) noexcept {
  if (begin <= polls.first && polls.first <= last) note_complete(polls.first);
}

}  // namespace millrace::polls_internal
