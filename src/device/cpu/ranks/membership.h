// RankMembership: the place of a program among the ranks that run a model together.
//
// It keeps the ranks in step: jobs run one at a time and in the same order on every rank, and a
// rank on which one did not come to its end takes part in no further collective. Otherwise its next
// job would exchange data with another job of the other ranks.
//
// skip() is thread-safe; the rest is for the threads that run jobs.
#pragma once

#include <atomic>
#include <memory>

#include "base/status.h"
#include "ranks/communicator.h"

namespace millrace::device::cpu {

class RankMembership {
 public:
  // Null: the program is alone.
  explicit RankMembership(std::shared_ptr<ranks::Communicator> communicator) noexcept
      : communicator_(std::move(communicator)) {}

  const std::shared_ptr<ranks::Communicator>& communicator() const noexcept {
    return communicator_;
  }

  // A job will not run here: the next one fails, on every rank.
  void skip() noexcept { skipped_.store(true, std::memory_order_relaxed); }

  // Runs a frame, unless a job was skipped. When it fails, the communicator fails, too: the other
  // ranks learn it now, not when they have waited for long enough.
  template <class Frame>
  Status run(Frame&& frame) noexcept {
    if (communicator_ == nullptr) return frame();
    Status status = skipped_.load(std::memory_order_relaxed) ? after_skip() : frame();
    if (!status.ok()) leave();
    return status;
  }

 private:
  static Status after_skip();
  void leave() noexcept;

  const std::shared_ptr<ranks::Communicator> communicator_;
  std::atomic<bool> skipped_{false};
};

}  // namespace millrace::device::cpu
