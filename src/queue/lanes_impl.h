// The inside of Lanes: the threads, the ready list between them and the units, and the protocol by
// which a unit gets a lane and gets rid of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "queue/lanes.h"
#include "queue/ready_list.h"
#include "queue/sleepers.h"
#include "queue/source.h"

namespace millrace::queue {

class Lanes::Impl {
 public:
  explicit Impl(const LanesOptions& options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  uint32_t count() const noexcept { return static_cast<uint32_t>(threads_.size()); }

  void attach() { ready_.attach(); }
  void detach() { ready_.detach(); }

  // The next place in the order of submission over all units; from 1.
  uint64_t next_ticket() noexcept {
    // Relaxed: the ticket reaches a lane together with the request it belongs to.
    return 1 + last_ticket_.fetch_add(1, std::memory_order_relaxed);
  }

  // Call after has_work() of `source` may have become true by a sequentially consistent store.
  // Costs one load while a lane holds the source.
  void schedule(Source& source) noexcept;

  // Stops new work of `source` and returns once no lane and no list holds it: the caller owns it.
  // Waits for the request that runs.
  void withdraw(Source& source);

 private:
  void run_lane(LaneId lane);
  // False: this lane has to end. Else `held` is a source owned by this lane.
  bool find_work(std::shared_ptr<Source>& held);
  bool poll(std::shared_ptr<Source>& held);
  bool let_go(Source& source) noexcept;
  bool continue_with_oldest(std::shared_ptr<Source>& held);
  void tell_withdrawer(const Source& source) noexcept;

  const std::chrono::nanoseconds spin_;
  alignas(64) std::atomic<uint64_t> last_ticket_{0};  // written by every submitter
  ReadyList ready_;
  Sleepers sleepers_;

  std::mutex withdraw_mutex_;
  std::condition_variable handed_over_;

  std::vector<std::thread> threads_;
};

}  // namespace millrace::queue
