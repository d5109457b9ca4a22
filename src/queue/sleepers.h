// Which lanes look for work and which sleep, and who wakes whom.
//
//   running --nothing to do--> searching --spun in vain--> parked
//      ^                         |  ^                        |
//      +------found work---------+  +-----------woken--------+
//
// Rule: while a source is ready and a lane is parked, at least one lane is searching or has been
// told to wake up (which counts as searching from that moment, so one sleeper is woken once). Three
// places keep it: whoever adds to the ready list calls wake_one; a lane that stops searching
// because it found work calls wake_one when more is left; a lane looks once more before it sleeps.
//
// `searching_` and the size of the ready list are accessed with sequential consistency throughout:
// an adder writes the size and then reads `searching_`, a lane writes `searching_` and then reads
// the size. In the single order of all four, at least one of the two sees the other's write.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace millrace::queue {

class Sleepers {
 public:
  void begin_search() noexcept { searching_.fetch_add(1, std::memory_order_seq_cst); }
  void end_search() noexcept { searching_.fetch_sub(1, std::memory_order_seq_cst); }

  // Wakes a parked lane if there is one and no lane is searching. Call after adding work. A system
  // call only when a lane is really woken.
  void wake_one() noexcept {
    if (searching_.load(std::memory_order_seq_cst) == 0 &&
        parked_.load(std::memory_order_seq_cst) != 0)
      wake_parked();
  }

  // Called by a searching lane. Sleeps until woken unless `has_work` says that there is work after
  // all. The lane is searching again when this returns; false once stop() was called.
  template <class HasWork>
  bool park(HasWork&& has_work) {
    std::unique_lock lock(mutex_);
    // Parked before no longer searching, so that an adder never sees neither.
    parked_.fetch_add(1, std::memory_order_seq_cst);
    searching_.fetch_sub(1, std::memory_order_seq_cst);
    if (!has_work() && !stopped_) return sleep(lock);
    parked_.fetch_sub(1, std::memory_order_seq_cst);
    searching_.fetch_add(1, std::memory_order_seq_cst);
    return !stopped_;
  }

  // Wakes every lane for good.
  void stop();

 private:
  void wake_parked() noexcept;
  bool sleep(std::unique_lock<std::mutex>& lock);

  alignas(64) std::atomic<uint32_t> searching_{0};
  std::atomic<uint32_t> parked_{0};  // changes only under mutex_

  std::mutex mutex_;
  std::condition_variable wake_;
  uint32_t wake_ups_ = 0;  // given and not yet taken by a parked lane
  bool stopped_ = false;
};

}  // namespace millrace::queue
