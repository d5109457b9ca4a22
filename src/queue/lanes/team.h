// Team: lets idle lanes (helpers) compute parts of a request that another lane runs, for operators
// that are worth more than one core.
//
// The thread that runs the request, the leader, publishes the work of one operator as a number of
// chunks, as in an OpenMP loop with dynamic schedule. It runs one chunk after another until none is
// left; idle lanes take chunks, too. A chunk is taken by one compare-and-swap, so the leader never
// waits for a lane that has not joined, and a lane leaves between two chunks as soon as a request
// is ready for it. The chunks do not depend on the number of helpers, and so neither do the
// results. A leader that has lost time by waiting for helpers, because other programs occupy their
// cores, or by waking lanes that had nothing to do then, runs alone for a while.
//
// If a helper hangs in a chunk, its leader waits for it; the request then makes no progress and is
// given up. From then on no lane joins that leader, and the lanes in its chunks are set aside with
// it. A helper stores which leader it helps and then reads whether that leader was given up; the
// thread that gives the leader up stores that and then reads which lanes help. All four accesses
// are sequentially consistent, so at least one of the two sees what the other has written.
//
// Unlike a SharedLoop, whose helpers are queued like requests, this is for operators that follow
// each other within microseconds: lanes look for chunks while they look for requests, and nothing
// is pushed, locked or allocated per operator.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "queue/lanes/sleepers.h"
#include "queue/requests/ids.h"
#include "queue/waiting/parker.h"
#include "queue/waiting/spin.h"

namespace millrace::queue {

class Team {
 public:
  // Runs the chunk with that number. Must not throw, and must not wait for another chunk.
  using Chunk = void (*)(void* work, uint32_t number);
  static constexpr uint32_t kMaxChunks = 0xffff;

  // For lanes with ids 0 to id_limit - 1, of which at most `helpers` are woken for one leader.
  // `sleepers` must outlive this object.
  Team(Sleepers& sleepers, uint32_t id_limit, uint32_t helpers)
      : sleepers_(sleepers),
        helpers_(helpers),
        id_limit_(id_limit),
        leaders_(std::make_unique<Leader[]>(id_limit)),
        helped_(std::make_unique<Helped[]>(id_limit)) {}

  // Between begin() and end() lane `leader` runs a request that will publish chunks: idle lanes
  // look for them a little longer before they sleep. begin() wakes sleeping lanes until `helpers`,
  // the largest number that one operator can use, are searching. They have time to wake, since the
  // first operators of a program are often too short or too narrow to be divided.
  void begin(LaneId leader, uint32_t helpers) noexcept;
  // Call before a request runs as lane `leader`, with the time that such requests take on average,
  // or 0 if that is not known. No lane is woken for a request that has ended before the lane could
  // save time; lanes that are searching help with it all the same.
  void expect(LaneId leader, int64_t run_ns) noexcept { leaders_[leader].expected_ns = run_ns; }
  void end() noexcept { requests_.fetch_sub(1, std::memory_order_relaxed); }
  // Returns whether such a request runs. A heuristic only: nothing is published through the count.
  bool expects_chunks() const noexcept { return requests_.load(std::memory_order_relaxed) != 0; }

  // Runs chunks 0 to `count` - 1 once each, concurrently, and returns when all have ended. Must be
  // called by the thread that runs a request as lane `leader`; chunk 0 always runs on it.
  // Requirement: 0 < count <= kMaxChunks; not from within a chunk.
  void run(LaneId leader, uint32_t count, Chunk chunk, void* work) noexcept;

  // For lanes: returns whether a chunk is available.
  bool has_chunk() const noexcept;
  // Takes and runs chunks as lane `self` until none is left, or `busy()` returns true because the
  // lane has other work. Returns false if the calling thread was set aside meanwhile and has to
  // end.
  template <class Busy>
  bool help(LaneId self, Busy&& busy) noexcept {
    if (!expects_chunks()) return true;
    for (LaneId lane = 0; lane < id_limit_; ++lane) {
      if (!may_help(leaders_[lane])) continue;
      bool leaves = !begin_help(self, lane);
      while (!leaves && help_once(leaders_[lane])) leaves = busy();
      if (!end_help(self, lane)) return false;
      if (leaves) return true;
    }
    return true;
  }

  // Called by the thread that gives up the request of `leader`: no lane takes further chunks of it.
  void give_up(LaneId leader) noexcept {
    leaders_[leader].given_up.store(true, std::memory_order_seq_cst);
  }
  // Call after give_up(leader). Sets `lane` aside until readmit() if it is helping that leader;
  // returns whether it is.
  bool set_aside(LaneId lane, LaneId leader) noexcept {
    return helped_[lane].leader.compare_exchange_strong(leader, kSetAside,
                                                        std::memory_order_seq_cst);
  }
  bool is_set_aside(LaneId lane) const noexcept {
    return helped_[lane].leader.load(std::memory_order_seq_cst) == kSetAside;
  }
  // Called when the thread that hung as this lane, as leader or helper, has returned: a thread that
  // uses the id from now on may lead and help again.
  void readmit(LaneId lane) noexcept {
    leaders_[lane].given_up.store(false, std::memory_order_seq_cst);
    helped_[lane].leader.store(kNoLane, std::memory_order_seq_cst);
  }

 private:
  // The published state of a leader. `chunks` holds the number of the next chunk in its upper 16
  // bits and their count in the lower 16: all are taken if both are equal, as at the beginning.
  struct alignas(64) Leader {
    std::atomic<uint32_t> chunks{0};
    std::atomic<bool> given_up{false};  // whether the request that it runs was given up
    // Written by the leader while no chunk is available or running on another thread.
    Chunk chunk = nullptr;
    void* work = nullptr;
    // Private to the leader: from when on it may wake lanes and publish chunks again (now_ns), and
    // the time that helpers have recently saved it, in nanoseconds.
    int64_t may_wake_at = 0;
    int64_t alone_until = 0;
    int64_t saved_ns = 0;
    // When the request began (now_ns), and how long it is expected to take; 0 if that is not known.
    int64_t began_at = 0;
    int64_t expected_ns = 0;
    // Written by helpers: the number of chunks that ended on their threads.
    alignas(64) std::atomic<uint32_t> ended{0};
    std::atomic<bool> sleeps{false};
    Parker parker;
  };
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr uint32_t kFirstTaken = 0x10000;  // one taken chunk, in `chunks`

  // The leader that a lane helps; kNoLane if it helps none. Written by the lane itself, and by the
  // thread that sets it aside.
  struct alignas(64) Helped {
    std::atomic<LaneId> leader{kNoLane};
  };
  static constexpr LaneId kSetAside = kNoLane - 1;

  // A heuristic: an available chunk may be taken by another lane at once.
  static bool may_help(const Leader& leader) noexcept {
    const uint32_t chunks = leader.chunks.load(std::memory_order_relaxed);
    return chunks >> 16 < (chunks & kMaxChunks) && !leader.given_up.load(std::memory_order_relaxed);
  }
  // Returns false if the leader was given up and must not be helped. end_help() has to follow in
  // either case.
  bool begin_help(LaneId self, LaneId leader) noexcept {
    helped_[self].leader.store(leader, std::memory_order_seq_cst);
    return !leaders_[leader].given_up.load(std::memory_order_seq_cst);
  }
  // Returns false if this lane was set aside.
  bool end_help(LaneId self, LaneId leader) noexcept {
    return helped_[self].leader.compare_exchange_strong(leader, kNoLane, std::memory_order_seq_cst);
  }

  // Takes a chunk for the calling thread and returns its number; kNone if all are taken.
  //
  // The exchange acquires what the leader released when it published the chunks: the exchanges of
  // other threads in between are read-modify-write operations, so they continue the release
  // sequence of the leader's store. The leader publishes nothing new until this chunk has ended.
  static uint32_t take(Leader& leader) noexcept {
    uint32_t chunks = leader.chunks.load(std::memory_order_relaxed);
    while (chunks >> 16 < (chunks & kMaxChunks))
      if (leader.chunks.compare_exchange_weak(chunks, chunks + kFirstTaken,
                                              std::memory_order_acquire, std::memory_order_relaxed))
        return chunks >> 16;
    return kNone;
  }
  static bool help_once(Leader& leader) noexcept;
  static void wait_for_helpers(Leader& leader, uint32_t chunks) noexcept;
  static void settle(Leader& leader, int64_t gained_ns, int64_t now) noexcept;
  // Wakes sleeping lanes until `wanted` are searching, and charges the leader for them. Returns
  // false, having woken none, if enough are searching, no lane sleeps, the last wake-up was too
  // recent, or the request is too short.
  bool call_helpers(Leader& leader, uint32_t wanted, int64_t now) noexcept;

  Sleepers& sleepers_;
  const uint32_t helpers_;
  const uint32_t id_limit_;
  const std::unique_ptr<Leader[]> leaders_;  // by LaneId
  const std::unique_ptr<Helped[]> helped_;   // by LaneId
  alignas(64) std::atomic<uint32_t> requests_{0};
};

}  // namespace millrace::queue
