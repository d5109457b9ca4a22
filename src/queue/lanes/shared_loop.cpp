// A loop's pieces are claimed by compare-and-swap on the next iteration. For each lane that may
// help there is a Helper, a source without a unit that the lanes schedule like one.
#include "queue/lanes/shared_loop.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <utility>

#include "base/cancellation.h"
#include "base/contained.h"
#include "base/process/forked_child.h"
#include "queue/lanes/lanes_impl.h"

namespace millrace::queue {

// The remaining pieces of the running loop, and the number of lanes that take part in it. Shared
// with the helpers, since a lane may look at it after the loop has ended.
class SharedLoop::Pieces {
 public:
  // The number of pieces per thread. Several balance the load: a lane starts late by the time that
  // waking takes, and cores may differ in speed.
  static constexpr uint32_t kPerThread = 4;

  void begin(uint32_t count, uint32_t threads, const Body& body) {
    const std::lock_guard lock(mutex_);
    count_ = count;
    size_ = std::max(1U, count / (threads * kPerThread));
    body_ = &body;
    next_.store(0, std::memory_order_relaxed);
    open_ = true;
  }

  // Takes pieces until none is left.
  void take() noexcept {
    try {
      for (uint32_t first = claim(); first < count_; first = claim())
        (*body_)(first, first + std::min(size_, count_ - first));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      next_.store(count_, std::memory_order_relaxed);  // no thread begins another piece
    }
  }

  // Like take(), on a lane. Does nothing if the loop has ended.
  void help() noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!open_) return;
      ++helping_;
    }
    take();
    const std::lock_guard lock(mutex_);
    if (--helping_ == 0) none_helps_.notify_one();
  }

  // Lets no further lane in and waits for those that are inside. Rethrows an exception of a piece.
  void end() {
    std::exception_ptr failure;
    {
      std::unique_lock lock(mutex_);
      open_ = false;
      none_helps_.wait(lock, [this] { return helping_ == 0; });
      failure = std::exchange(failure_, nullptr);
    }
    if (failure != nullptr) std::rethrow_exception(failure);
  }

 private:
  // Claims a piece for the calling thread. Returns its first iteration; count_ if none is left.
  uint32_t claim() noexcept {
    uint32_t first = next_.load(std::memory_order_relaxed);
    while (first < count_ &&
           !next_.compare_exchange_weak(first, first + std::min(size_, count_ - first),
                                        std::memory_order_relaxed)) {
    }
    return first;
  }

  std::mutex mutex_;
  std::condition_variable none_helps_;
  bool open_ = false;
  uint32_t helping_ = 0;
  std::exception_ptr failure_;
  // count_, size_ and body_ are written by begin() only, before it lets lanes in.
  uint32_t count_ = 0;
  uint32_t size_ = 1;
  const Body* body_ = nullptr;
  std::atomic<uint32_t> next_{0};
};

// A source whose only request makes a lane take part in the loop.
class SharedLoop::Helper final : public Source {
 public:
  explicit Helper(std::shared_ptr<Pieces> pieces) : pieces_(std::move(pieces)) {}

  void ask(Lanes::Impl& lanes) noexcept {
    // Relaxed, since the store below publishes it.
    ticket_.store(lanes.next_ticket(), std::memory_order_relaxed);
    asked_.store(true, std::memory_order_seq_cst);
    lanes.schedule(*this);
  }

  bool has_work() const noexcept override { return asked_.load(std::memory_order_seq_cst); }
  uint64_t ticket() const noexcept override {
    return has_work() ? ticket_.load(std::memory_order_relaxed) : 0;
  }
  bool run_one(LaneId lane) noexcept override {
    asked_.store(false, std::memory_order_seq_cst);
    // With kNoLane this is the caller's thread, which takes all pieces anyway.
    if (lane != kNoLane) pieces_->help();
    return true;
  }

 private:
  const std::shared_ptr<Pieces> pieces_;
  std::atomic<uint64_t> ticket_{0};
  std::atomic<bool> asked_{false};
};

SharedLoop::SharedLoop(Lanes& lanes) : lanes_(lanes.impl()), pieces_(std::make_shared<Pieces>()) {}

SharedLoop::~SharedLoop() {
  const CancellationOff whole;
  for (std::shared_ptr<Helper>& helper : helpers_) {
    // In a forked child the mutex of the pieces may stay locked for ever, by a lane of the parent.
    if (is_forked_child()) {
      never_destroy(std::move(helper));
      continue;
    }
    lanes_->reclaim(*helper, kNoDeadline);
    lanes_->detach();
  }
}

void SharedLoop::add_helper() {
  helpers_.push_back(std::make_shared<Helper>(pieces_));
  try {
    lanes_->attach();
  } catch (...) {
    helpers_.pop_back();
    throw;
  }
}

Result<std::unique_ptr<SharedLoop>> SharedLoop::create(Lanes& lanes) {
  const auto make = [&]() -> Result<std::unique_ptr<SharedLoop>> {
    MILLRACE_RETURN_IF_ERROR(lanes.fill_up().with_context("cannot create a parallel loop"));
    std::unique_ptr<SharedLoop> loop(new SharedLoop(lanes));
    for (uint32_t lane = 1; lane < lanes.count(); ++lane) loop->add_helper();
    return loop;
  };
  return contained(make, "no memory for a parallel loop");
}

void SharedLoop::run(uint32_t count, const Body& body) {
  const CancellationOff whole;
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn.owns_lock() || helpers_.empty() || is_forked_child()) return body(0, count);
  pieces_->begin(count, static_cast<uint32_t>(helpers_.size()) + 1, body);
  for (const std::shared_ptr<Helper>& helper : helpers_) helper->ask(*lanes_);
  pieces_->take();
  pieces_->end();
}

}  // namespace millrace::queue
