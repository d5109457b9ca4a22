// Team: idle lanes take part in the request that another lane runs, for operators that are worth
// more than one core.
//
// The thread that runs the request, the leader, publishes the work of one operator as a number of
// chunks. It runs one chunk after another until none is left; lanes that have nothing else to do
// take chunks, too. A chunk is taken by one compare-and-swap, so the leader never waits for a lane
// that has not come, and a lane leaves between two chunks as soon as a request is ready for it. The
// chunks are the same however many lanes come, and so are the results. A leader that has lost time
// by helpers, because other programs keep their cores busy, goes on alone for a while.
//
// A helper that hangs in a chunk keeps its leader waiting, whose request then makes no progress and
// is given up. From then on no lane comes to that leader, and those that are in its chunks are set
// aside with it. A lane states whom it helps before it asks whether that leader was given up; the
// thread that gives it up states that first and then asks who helps. All four accesses are
// sequentially consistent, so at least one of the two sees what the other has written.
//
// Unlike a SharedLoop, whose pieces a lane comes to as to a request, this is for operators that
// follow each other within microseconds: lanes look for chunks while they look for requests, and
// nothing is pushed, locked or allocated per operator.
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
  // Runs the chunk with that number. Throws nothing, and waits for no other chunk.
  using Chunk = void (*)(void* work, uint32_t number);
  static constexpr uint32_t kMaxChunks = 0xffff;

  // For lanes with ids 0 to id_limit - 1, of which at most `helpers` are woken for one leader.
  // `sleepers` outlive this.
  Team(Sleepers& sleepers, uint32_t id_limit, uint32_t helpers)
      : sleepers_(sleepers),
        helpers_(helpers),
        id_limit_(id_limit),
        leaders_(std::make_unique<Leader[]>(id_limit)),
        helped_(std::make_unique<Helped[]>(id_limit)) {}

  // Between begin and end lane `leader` runs a request that will publish chunks: lanes that have
  // nothing to do look for them a little longer before they sleep. As many as `helpers`, which one
  // of its operators can use, are woken now if they sleep, since the first operators of a program
  // are often too short or too narrow to be divided.
  void begin(LaneId leader, uint32_t helpers) noexcept;
  void end() noexcept { requests_.fetch_sub(1, std::memory_order_relaxed); }
  // Advice only, as the count above: nothing is published through it.
  bool expects_chunks() const noexcept { return requests_.load(std::memory_order_relaxed) != 0; }

  // Runs chunks 0 to `count` - 1 once each, several at the same time, and returns when all have
  // ended. For the thread that runs a request as lane `leader`, which chunk 0 always runs on.
  // Requirement: 0 < count <= kMaxChunks; not from within a chunk.
  void run(LaneId leader, uint32_t count, Chunk chunk, void* work) noexcept;

  // For lanes: whether a chunk is there to be taken.
  bool has_chunk() const noexcept;
  // Takes chunks as lane `self` until none is left, or `busy` says that the lane has something else
  // to do. False: the calling thread was set aside meanwhile and has to end.
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

  // For the thread that gives up a request which `leader` runs: no lane takes further chunks of it.
  void give_up(LaneId leader) noexcept {
    leaders_[leader].given_up.store(true, std::memory_order_seq_cst);
  }
  // After give_up(leader). Whether `lane` is in a chunk of that leader's, or was a moment ago; it
  // is set aside then, until readmit().
  bool set_aside(LaneId lane, LaneId leader) noexcept {
    return helped_[lane].leader.compare_exchange_strong(leader, kSetAside,
                                                        std::memory_order_seq_cst);
  }
  bool is_set_aside(LaneId lane) const noexcept {
    return helped_[lane].leader.load(std::memory_order_seq_cst) == kSetAside;
  }
  // The thread that hung as that lane, as leader or as helper, has come back: a thread that uses
  // the id from now on leads and helps as any other.
  void readmit(LaneId lane) noexcept {
    leaders_[lane].given_up.store(false, std::memory_order_seq_cst);
    helped_[lane].leader.store(kNoLane, std::memory_order_seq_cst);
  }

 private:
  // The state that a leader has published. `chunks` holds the number of the next chunk in its upper
  // half and their count in the lower one: all are taken if both are equal, as at the beginning.
  struct alignas(64) Leader {
    std::atomic<uint32_t> chunks{0};
    std::atomic<bool> given_up{false};  // true if the request that it runs was given up
    // Written by the leader while no chunk is there to be taken, or in work on another thread.
    Chunk chunk = nullptr;
    void* work = nullptr;
    // The leader's own: when it may next wake lanes and publish chunks, and what helpers have saved
    // it lately, in nanoseconds.
    int64_t may_wake_at = 0;
    int64_t alone_until = 0;
    int64_t saved_ns = 0;
    // Written by helpers: chunks that ended on their threads.
    alignas(64) std::atomic<uint32_t> ended{0};
    std::atomic<bool> sleeps{false};
    Parker parker;
  };
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr uint32_t kFirstTaken = 0x10000;  // in `chunks`

  // Whom a lane helps, kNoLane when nobody. Written by the lane itself, and once by the thread that
  // sets it aside.
  struct alignas(64) Helped {
    std::atomic<LaneId> leader{kNoLane};
  };
  static constexpr LaneId kSetAside = kNoLane - 1;

  // Advice only: a chunk that is there may be gone at once.
  static bool may_help(const Leader& leader) noexcept {
    const uint32_t chunks = leader.chunks.load(std::memory_order_relaxed);
    return chunks >> 16 < (chunks & kMaxChunks) && !leader.given_up.load(std::memory_order_relaxed);
  }
  // False: the leader was given up, do not help it. To be followed by end_help in either case.
  bool begin_help(LaneId self, LaneId leader) noexcept {
    helped_[self].leader.store(leader, std::memory_order_seq_cst);
    return !leaders_[leader].given_up.load(std::memory_order_seq_cst);
  }
  // False: this lane was set aside.
  bool end_help(LaneId self, LaneId leader) noexcept {
    return helped_[self].leader.compare_exchange_strong(leader, kNoLane, std::memory_order_seq_cst);
  }

  // The number of a chunk that is the calling thread's from now on; kNone when all are taken.
  //
  // Acquires what the leader released when it published the chunks: reading a later number of them
  // reads what other threads' exchanges made of the leader's store, which continues its release
  // sequence. As long as the chunk has not ended, the leader publishes nothing new.
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
  static void weigh(Leader& leader, int64_t saved_ns, int64_t waited_ns, int64_t now) noexcept;
  // False: it is not yet time, or there is none to wake.
  bool call_helpers(const Leader& leader, uint32_t wanted, int64_t now) noexcept;

  Sleepers& sleepers_;
  const uint32_t helpers_;
  const uint32_t id_limit_;
  const std::unique_ptr<Leader[]> leaders_;  // by LaneId
  const std::unique_ptr<Helped[]> helped_;   // by LaneId
  alignas(64) std::atomic<uint32_t> requests_{0};
};

}  // namespace millrace::queue
