#include "queue/lanes/team.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace millrace::queue {
namespace {

// Chunks of one operator take about the same time, so a helper is seldom later than this.
constexpr std::chrono::microseconds kLeaderSpin{200};
// Waking a thread costs the leader a system call. A helper that goes to sleep again and again,
// because its core is busy, is not woken more often than this.
constexpr int64_t kWakeIntervalNs = 200'000;
// A helper whose core another program takes keeps the leader waiting for a slice of the scheduler,
// milliseconds. When that has cost more than helpers have saved, by the debt below, the leader goes
// on alone for so many times what it has lost. So it can lose that share of its time at most.
constexpr int64_t kMostSavedNs = 1'000'000, kMostDebtNs = 200'000;
constexpr int64_t kAlonePerLost = 16;
// A longer wait is no helper's: the process was stopped, or it says nothing of the time to come.
constexpr int64_t kMostLostNs = 1'000'000'000;

}  // namespace

void Team::begin(LaneId lane, uint32_t helpers) noexcept {
  // Before lanes are woken, which look for this.
  requests_.fetch_add(1, std::memory_order_relaxed);
  const Leader& leader = leaders_[lane];
  const int64_t now = now_ns();
  // The first operator with chunks may wake lanes, too, whatever is done here: one that has found
  // none for a while sleeps again.
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
  // Publishes the three above to those who take a chunk. The first one is the leader's, so that it
  // always knows about how long a chunk takes.
  leader.chunks.store(count + kFirstTaken, std::memory_order_release);
  // From behind the calls, which take longer than the interval where there are many lanes.
  if (call_helpers(leader, std::min(count - 1, helpers_), begun))
    leader.may_wake_at = now_ns() + kWakeIntervalNs;
  uint32_t own = 0;
  for (uint32_t number = 0; number != kNone; number = take(leader), ++own) chunk(work, number);
  if (own == count) return;
  const int64_t ended = now_ns();
  wait_for_helpers(leader, count - own);
  const int64_t now = now_ns();
  const int64_t chunk_ns = (ended - begun) / own, waited_ns = now - ended;
  // A chunk may have begun just before, and takes about as long on a core of its own.
  if (waited_ns >= chunk_ns + spin_budget::kSliceNs) spin_budget::note_lost_core();
  // The time saved is the time that the helpers' chunks would have taken on this thread.
  weigh(leader, chunk_ns * (count - own), waited_ns, now);
}

void Team::weigh(Leader& leader, int64_t saved_ns, int64_t waited_ns, int64_t now) noexcept {
  const int64_t gained_ns = std::clamp(saved_ns - waited_ns, -kMostLostNs, kMostSavedNs);
  leader.saved_ns = std::min(leader.saved_ns + gained_ns, kMostSavedNs);
  if (leader.saved_ns >= -kMostDebtNs) return;
  leader.alone_until = now - leader.saved_ns * kAlonePerLost;
  leader.saved_ns = 0;
}

// Wakes sleeping lanes until `wanted` look for work.
bool Team::call_helpers(const Leader& leader, uint32_t wanted, int64_t now) noexcept {
  if (!sleepers_.could_wake(wanted) || now < leader.may_wake_at) return false;
  sleepers_.wake(wanted);
  return true;
}

bool Team::has_chunk() const noexcept {
  if (!expects_chunks()) return false;
  return std::any_of(leaders_.get(), leaders_.get() + id_limit_, may_help);
}

// Takes one chunk of the leader's and runs it; false when there is none.
//
// The leader says that it sleeps and then looks at `ended`; this function counts and then looks at
// `sleeps`. All four accesses are sequentially consistent, so at least one of the two sees what the
// other has written. Counting releases what the chunk wrote to the leader. Afterwards the leader
// may go on and publish other chunks; waking it once too often does no harm.
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
  // A helper that shares its core with the leader gets no further while that spins.
  constexpr std::chrono::nanoseconds kNotAtAll{0};
  if (spin_until(done, spin_budget::fits() ? spin_budget::beside_others(kLeaderSpin) : kNotAtAll))
    return;
  leader.sleeps.store(true, std::memory_order_seq_cst);
  while (!done()) leader.parker.park();
  leader.sleeps.store(false, std::memory_order_relaxed);
}

}  // namespace millrace::queue
