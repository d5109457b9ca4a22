// The leader's side of a team: publishing chunks, waking and awaiting helpers, and deciding, from
// the time that they have saved and cost, whether to use them.
#include "queue/lanes/team.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace millrace::queue {
namespace {

// How long a leader spins for its helpers before it sleeps. Chunks of one operator take about the
// same time, so a helper seldom ends later than this.
constexpr std::chrono::microseconds kLeaderSpin{200};
// The minimum time between two wake-ups of helpers by a leader, each of which costs a system call.
// Helpers whose cores are busy with other work fall asleep again and again.
constexpr int64_t kWakeIntervalNs = 200'000;
// If another program takes the core of a helper, the leader waits for a time slice of the
// scheduler, which is milliseconds. A lane that is woken for a short request may find it ended, and
// has taken a core from another thread meanwhile. Each leader keeps a balance: the time that
// helpers have saved it, at most kMostSavedNs, less the time that it has waited for them and that
// lanes have taken to wake. When the balance is below -kMostDebtNs, the leader runs alone for
// kAlonePerLost times the debt, so it loses at most a sixteenth of its time.
constexpr int64_t kMostSavedNs = 1'000'000, kMostDebtNs = 200'000;
constexpr int64_t kAlonePerLost = 16;
// A lane is woken for a request that takes at least as long as this many wakes of a lane.
constexpr int64_t kWakesOfLong = 2;
// The most that a single wait counts. A longer one has another cause, such as a stop of the
// process, and does not predict the future.
constexpr int64_t kMostLostNs = 1'000'000'000;

}  // namespace

void Team::begin(LaneId lane, uint32_t helpers) noexcept {
  // Incremented before lanes are woken, since they read it.
  requests_.fetch_add(1, std::memory_order_relaxed);
  Leader& leader = leaders_[lane];
  const int64_t now = now_ns();
  leader.began_at = now;
  // This does not set may_wake_at, so the first operator with chunks may wake lanes again: a helper
  // that has found no chunk for a while sleeps again.
  if (now >= leader.alone_until && !leader.given_up.load(std::memory_order_relaxed))
    call_helpers(leader, std::min(helpers, helpers_), now);
}

void Team::run(LaneId lane, uint32_t count, Chunk chunk, void* work) noexcept {
  Leader& leader = leaders_[lane];
  const int64_t begun = now_ns();
  if (begun < leader.alone_until || leader.given_up.load(std::memory_order_relaxed)) {
    for (uint32_t number = 0; number < count; ++number) chunk(work, number);
    return;
  }
  leader.chunk = chunk;
  leader.work = work;
  leader.ended.store(0, std::memory_order_relaxed);
  // The release publishes the three members above to the threads that take a chunk. Chunk 0 is
  // already taken, by the leader, so that it always measures how long a chunk takes.
  leader.chunks.store(count + kFirstTaken, std::memory_order_release);
  // The interval starts after the wake-ups, which take longer than it if there are many lanes.
  if (call_helpers(leader, std::min(count - 1, helpers_), begun))
    leader.may_wake_at = now_ns() + kWakeIntervalNs;
  uint32_t own = 0;
  for (uint32_t number = 0; number != kNone; number = take(leader), ++own) chunk(work, number);
  if (own == count) return;
  const int64_t ended = now_ns();
  wait_for_helpers(leader, count - own);
  const int64_t now = now_ns();
  const int64_t chunk_ns = (ended - begun) / own, waited_ns = now - ended;
  // A helper that runs may have begun its chunk just before `ended`, so a wait of one chunk is
  // normal. A wait that is longer by a time slice means that a helper has lost its core.
  if (waited_ns >= chunk_ns + spin_budget::kSliceNs) spin_budget::note_lost_core();
  // The time saved is the time that the helpers' chunks would have taken on this thread.
  const int64_t saved_ns = chunk_ns * (count - own);
  settle(leader, std::clamp(saved_ns - waited_ns, -kMostLostNs, kMostSavedNs), now);
}

// Adds to the balance of the leader.
void Team::settle(Leader& leader, int64_t gained_ns, int64_t now) noexcept {
  leader.saved_ns = std::min(leader.saved_ns + gained_ns, kMostSavedNs);
  if (leader.saved_ns >= -kMostDebtNs) return;
  leader.alone_until = now - leader.saved_ns * kAlonePerLost;
  leader.saved_ns = 0;
}

bool Team::call_helpers(Leader& leader, uint32_t wanted, int64_t now) noexcept {
  if (!sleepers_.could_wake(wanted) || now < leader.may_wake_at) return false;
  const int64_t wake_ns = sleepers_.wake_ns(), long_ns = kWakesOfLong * wake_ns;
  // A request that has taken long already is not like those before it.
  if (leader.expected_ns != 0 && std::max(leader.expected_ns, now - leader.began_at) < long_ns)
    return false;
  if (sleepers_.wake(wanted) == 0) return false;
  settle(leader, -wake_ns, now);  // lanes wake at the same time
  return true;
}

bool Team::has_chunk() const noexcept {
  if (!expects_chunks()) return false;
  return std::any_of(leaders_.get(), leaders_.get() + id_limit_, may_help);
}

// Takes one chunk of the leader and runs it; returns false if there is none.
//
// The leader stores `sleeps` and then reads `ended`; this function increments `ended` and then
// reads `sleeps`. All four accesses are sequentially consistent, so at least one of the two sees
// what the other has written. The increment releases the chunk's writes to the leader. Afterwards
// the leader may continue and publish other chunks; a spurious wake-up does no harm.
bool Team::help_once(Leader& leader) noexcept {
  const uint32_t number = take(leader);
  if (number == kNone) return false;
  leader.chunk(leader.work, number);
  leader.ended.fetch_add(1, std::memory_order_seq_cst);
  if (leader.sleeps.load(std::memory_order_seq_cst)) leader.parker.unpark();
  return true;
}

void Team::wait_for_helpers(Leader& leader, uint32_t chunks) noexcept {
  const auto done = [&] { return leader.ended.load(std::memory_order_seq_cst) == chunks; };
  // If there are more threads than cores, a helper may share its core with the leader and cannot
  // run while that spins.
  constexpr std::chrono::nanoseconds kNotAtAll{0};
  if (spin_until(done, spin_budget::fits() ? spin_budget::beside_others(kLeaderSpin) : kNotAtAll))
    return;
  leader.sleeps.store(true, std::memory_order_seq_cst);
  while (!done()) leader.parker.park();
  leader.sleeps.store(false, std::memory_order_relaxed);
}

}  // namespace millrace::queue
