// The inside of Lanes: the threads, the ready list between them and the units, and the protocol by
// which a unit gets a lane and gets rid of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/status.h"
#include "queue/lanes/lanes.h"
#include "queue/lanes/ready_list.h"
#include "queue/lanes/sleepers.h"
#include "queue/lanes/source.h"
#include "queue/lanes/team.h"
#include "queue/waiting/spin.h"

namespace millrace::queue {

class Lanes::Impl : public std::enable_shared_from_this<Lanes::Impl> {
 public:
  explicit Impl(const LanesOptions& options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Starts the threads; later calls do nothing. kResourceExhausted when not one could be
  // started; a later call tries again.
  Status start();
  // See Lanes::fill_up.
  Status fill_up();
  // Ends the threads: joins them, except those that were given up.
  void stop();

  // After this call there is a lane for each unit whose requests wait for each other, so that none
  // of them waits for one without a lane. kResourceExhausted when that is not possible, and then
  // nothing has changed. Lanes that were added stay; without a request they sleep.
  Status add_waiting_unit();
  void remove_waiting_unit() noexcept;

  uint32_t base_count() const noexcept { return base_; }
  uint32_t count() const noexcept { return live_.load(std::memory_order_seq_cst); }
  uint32_t id_limit() const noexcept { return base_ + most_added_ + kMaxQuarantined; }
  uint32_t quarantined();

  // The team that may help a request on these lanes; null if the request has to stay on one lane.
  Team* team() noexcept { return base_ > 1 && !core_ ? &team_ : nullptr; }

  void attach() { ready_.attach(); }
  void detach() { ready_.detach(); }

  // The next position in the order of submission over all units; from 1.
  uint64_t next_ticket() noexcept {
    // Relaxed: publishing the request makes its ticket visible to the lane.
    return 1 + last_ticket_.fetch_add(1, std::memory_order_relaxed);
  }

  // Call after has_work() of `source` may have become true by a sequentially consistent store.
  // Costs one load while a lane holds the source.
  void schedule(Source& source) noexcept;

  // Makes the caller the owner of an idle source, to run requests as the lane that is returned,
  // until give_back. kNoLane when the source is owned, all lanes are busy or searching, or they are
  // pinned to a core.
  LaneId borrow(Source& source) noexcept;
  void give_back(Source& source, LaneId lane) noexcept;
  // Gives back the lane alone, when the source was taken from the caller, whose request hung.
  void give_back_late(LaneId lane) noexcept;

  // Makes the caller the owner of a source that no lane holds, until resume().
  bool own(Source& source);
  // Returns an owned source to the lanes.
  void resume(Source& source) noexcept;
  // Sets the thread of `lane`, which hangs, aside (or, where the lane is `borrowed`, the thread
  // that borrowed it), and with it those that are in a chunk of its request. Starts others instead.
  // False when too many are set aside already, or the system refuses a thread: there is a lane less
  // then. The answer is for `lane` alone.
  bool replace(LaneId lane, bool borrowed);

  // Stops new work of `source` and returns true once no lane and no list holds it: the caller owns
  // it. Waits for the request that runs; false when it still did at the deadline.
  bool reclaim(Source& source, Deadline deadline);

 private:
  // This is a small number, since lanes that look for chunks look at all ids.
  static constexpr uint32_t kMostAdded = 32;

  void run_lane(LaneId lane);
  // False: this lane has to end. Else `held` is a source owned by this lane.
  bool find_work(LaneId lane, std::shared_ptr<Source>& held);
  enum class Found : uint8_t { kNothing, kSource, kChunk };
  enum class Helped : uint8_t { kNoMoreChunks, kSourceHasWork, kSetAside };
  Found search(LaneId lane, std::shared_ptr<Source>& held, bool has_helped);
  Helped help(LaneId lane, std::shared_ptr<Source>& held);
  bool poll(std::shared_ptr<Source>& held);
  bool let_go(Source& source) noexcept;
  void continue_elsewhere(Source& source) noexcept;
  bool continue_with_oldest(std::shared_ptr<Source>& held);
  void notify_closer(const Source& source) noexcept;
  void fail_ready() noexcept;
  bool start_lane_locked();
  bool set_aside_locked(LaneId lane, bool borrowed);
  void start_missing_locked();
  void start_missing_when_idle();
  void come_back(LaneId lane);

  const uint32_t base_;  // the number that the options set
  const uint32_t most_added_;
  std::atomic<uint32_t> wanted_;  // includes added lanes; written under threads_mutex_
  const std::optional<int> core_;
  const char* const thread_name_;
  const bool spins_;  // whether a lane looks for work before it parks
  alignas(64) std::atomic<uint64_t> last_ticket_{0};  // written by every submitter
  std::atomic<uint32_t> live_;                        // lanes that run; base_ before start()
  ReadyList ready_;
  Sleepers sleepers_;
  Team team_;

  std::mutex reclaim_mutex_;
  std::condition_variable reclaimable_;

  struct Slot {
    explicit Slot(std::chrono::nanoseconds limit) noexcept : spin(limit) {}
    AdaptiveSpin spin;     // state of the lane's own thread
    bool in_use = false;   // serving, or set aside and still hanging
    bool retired = false;  // replaced while it was borrowed: sleeps to the end
    std::thread thread;
  };
  std::mutex threads_mutex_;
  std::atomic<bool> started_{false};
  bool stopping_ = false;
  uint32_t quarantined_ = 0;
  uint32_t waiting_units_ = 0;
  Deadline try_again_at_{};  // when an idle lane may next start those that are missing
  std::deque<Slot> slots_;   // by LaneId; the fields but `spin` under threads_mutex_
};

}  // namespace millrace::queue
