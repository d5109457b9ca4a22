// Lanes::Impl: the implementation of Lanes. It holds the threads, the list of ready sources, and
// the protocol by which a source (a unit) acquires and releases a lane. The threads share ownership
// of this object, since one that hangs may outlive the Lanes.
//
// All functions are thread-safe. Names that end in _locked require threads_mutex_ to be held.
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
#include "queue/lanes/caller_credit.h"
#include "queue/lanes/lanes.h"
#include "queue/lanes/ready_list.h"
#include "queue/lanes/sleepers.h"
#include "queue/lanes/source.h"
#include "queue/lanes/team.h"
#include "queue/waiting/monitor.h"
#include "queue/waiting/spin.h"

namespace millrace::queue {

class Lanes::Impl final : public Watched, public std::enable_shared_from_this<Lanes::Impl> {
 public:
  explicit Impl(const LanesOptions& options);
  ~Impl() override;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Starts the threads; calls after a success do nothing. kResourceExhausted if no thread could be
  // started; a later call tries again.
  Status start();
  // See Lanes::fill_up.
  Status fill_up();
  // Ends the threads and joins them, except those that were given up.
  void stop();

  // Makes sure that there is a lane for each unit whose requests wait for each other, one more than
  // before, so that no request waits for one that has no lane to run on. kResourceExhausted if that
  // is not possible; then no unit was added. Lanes that were started for this stay, and sleep while
  // they have no work.
  Status add_waiting_unit();
  void remove_waiting_unit() noexcept;

  uint32_t base_count() const noexcept { return base_; }
  uint32_t count() const noexcept { return live_.load(std::memory_order_seq_cst); }
  uint32_t id_limit() const noexcept { return base_ + most_added_ + kMaxQuarantined; }
  uint32_t quarantined();

  // Returns the team that may help a request on these lanes; null if there is one lane only, or the
  // lanes are pinned.
  Team* team() noexcept { return base_ > 1 && !core_ ? &team_ : nullptr; }

  // See Sleepers::wake_ns.
  int64_t wake_ns() const noexcept { return sleepers_.wake_ns(); }

  // See Team::expect.
  void expect(LaneId lane, int64_t run_ns) noexcept { team_.expect(lane, run_ns); }

  // Returns whether a source waits for a lane; may be outdated.
  bool has_ready() const noexcept { return !ready_.empty(); }

  // Starts the thread that makes sure that no request is left to threads that wait for good. Call
  // when a unit is made whose requests these may run. Throws std::bad_alloc.
  void prepare_checks();

  void attach() { ready_.attach(); }
  void detach() { ready_.detach(); }

  // Returns the next position in the order of submission over all sources, from 1.
  uint64_t next_ticket() noexcept {
    // Relaxed: publishing the request makes its ticket visible to the lane.
    return 1 + last_ticket_.fetch_add(1, std::memory_order_relaxed);
  }

  // Gives the source to a lane if it is idle. Call after has_work() of `source` may have become
  // true by a sequentially consistent store. Costs one load while a lane holds the source.
  void schedule(Source& source) noexcept;

  // Makes the caller the owner of an idle source until give_back(), and lends it a sleeping lane,
  // as which it runs requests. Returns that lane; kNoLane if the source has an owner, no lane
  // sleeps, the lanes are pinned, or the stack of the calling thread is too small.
  LaneId borrow(Source& source) noexcept;
  // Does the same for a source that is idle or ready, that is, which no lane holds.
  LaneId borrow_ready(Source& source);
  void give_back(Source& source, LaneId lane) noexcept;
  // Runs the oldest ready request on the calling thread, which waits for another one, on a borrowed
  // lane. Returns false, having done nothing, if that request is not for waiting threads or is
  // expected to take more than `longest_ns`, none is ready, or no lane can be borrowed.
  bool run_one_for_caller(int64_t longest_ns);
  // Asks a lane to step back, so that the calling thread, which waits, can borrow it soon. Does
  // nothing if a lane sleeps, which can be borrowed, or if requests are not left to callers.
  void want_lane() noexcept;
  // Gives back the lane only, after the caller's request hung and the source was taken from it.
  void give_back_late(LaneId lane) noexcept;

  // Makes the caller the owner of a source that no lane holds, until resume(). Returns false if a
  // lane or another thread holds it.
  bool own(Source& source);
  // Returns an owned source to the lanes.
  void resume(Source& source) noexcept;
  // Sets aside the thread of `lane`, which hangs (or, if the lane is `borrowed`, the thread that
  // borrowed it), and the helpers that are in a chunk of its request, and starts new threads in
  // their place. Returns whether `lane` itself was replaced. If too many threads are set aside
  // already, or the system refuses a thread, it is not, and there is one lane less.
  bool replace(LaneId lane, bool borrowed);

  // Stops new work of `source`, and waits for its running request until the deadline. Returns true
  // once no lane and no list holds the source: the caller owns it for good. False at the deadline.
  bool reclaim(Source& source, Deadline deadline);

  // Wakes a lane for requests that were left to waiting threads and that none has run.
  void on_time() noexcept override;

 private:
  // The maximum number of lanes that add_waiting_unit() adds. It is small because lanes that look
  // for chunks examine all ids.
  static constexpr uint32_t kMostAdded = 32;

  void run_lane(LaneId lane);
  // Waits for work. Returns false if this lane has to end; otherwise this lane owns `held`.
  bool find_work(LaneId lane, std::shared_ptr<Source>& held);
  enum class Found : uint8_t { kNothing, kSource, kChunk };
  enum class Helped : uint8_t { kNoMoreChunks, kSourceHasWork, kSetAside };
  Found search(LaneId lane, std::shared_ptr<Source>& held, bool has_helped);
  Helped help(LaneId lane, std::shared_ptr<Source>& held);
  bool poll(LaneId lane, std::shared_ptr<Source>& held);
  bool let_go(Source& source) noexcept;
  void continue_elsewhere(Source& source) noexcept;
  bool continue_with_oldest(std::shared_ptr<Source>& held);
  void exchange_with_oldest(std::shared_ptr<Source>& held);
  void notify_closer(const Source& source) noexcept;
  void fail_ready() noexcept;

  // left_requests.cpp
  bool suits_callers(const Source& source) const noexcept;
  uint32_t lanes_that_will_look() const noexcept;
  bool is_one_lane_more_useful(uint32_t awake) const noexcept;
  void wake_lane_or_check_later(bool wakes) noexcept;
  void check_later() noexcept;
  void call_soon_locked() noexcept;
  void set_will_look(LaneId lane, bool will_look) noexcept;
  bool is_for_callers(const Source& source) const noexcept;
  bool waits_for_caller(LaneId lane) noexcept;
  bool steps_back(const Source& held, LaneId lane) noexcept;
  bool must_not_step_back() const noexcept;
  bool leave_to_callers(Source& source) noexcept;

  // lanes.cpp
  bool start_lane_locked();
  bool set_aside_locked(LaneId lane, bool borrowed);
  void start_missing_locked();
  void start_missing_when_idle();
  void come_back(LaneId lane);
  void return_to_service(LaneId lane) noexcept;

  const uint32_t base_;  // LanesOptions::count
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

  CallerCredit credit_;
  std::atomic<uint32_t> short_runs_{0};         // lanes that run requests which callers may run
  std::atomic<bool> caller_wants_lane_{false};  // see want_lane(); a heuristic, relaxed
  std::atomic<bool> may_check_{false};          // whether monitor_ has a thread
  std::atomic<bool> check_pending_{false};
  uint64_t newest_at_check_ = 0;      // the last ticket at the last check; used by on_time() alone
  std::shared_ptr<Monitor> monitor_;  // written under threads_mutex_, before may_check_ is set

  std::mutex reclaim_mutex_;
  std::condition_variable reclaimable_;

  struct Slot {
    explicit Slot(std::chrono::nanoseconds limit) noexcept : spin(limit) {}
    // State of the lane's own thread.
    AdaptiveSpin spin;
    bool will_look = false;         // whether it is counted in short_runs_
    bool steps_back = false;        // whether it sleeps next, although there may be work
    int64_t only_one_since_ns = 0;  // see waits_for_caller(); 0 if it has not seen that yet

    bool in_use = false;  // has a thread, or one that was set aside and still hangs
    bool spare = false;  // was set aside while it was borrowed and has come back: its thread sleeps
    std::thread thread;
  };
  std::mutex threads_mutex_;
  std::atomic<bool> started_{false};
  bool stopping_ = false;
  uint32_t quarantined_ = 0;
  uint32_t waiting_units_ = 0;
  Deadline try_again_at_{};  // when an idle lane may next start the missing lanes
  std::deque<Slot> slots_;   // by LaneId; the other fields under threads_mutex_
};

}  // namespace millrace::queue
