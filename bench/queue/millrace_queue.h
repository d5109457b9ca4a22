// MillraceQueue: one unit on one lane, with tasks that do nothing. It has the interface of the
// peers: submit() (0 if full), wait() for an id, and completed(), the number of completed jobs.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "queue/units/unit.h"

namespace millrace::bench {

inline constexpr std::chrono::nanoseconds kForever = std::chrono::hours(1);

class NullTask final : public queue::Task {
 public:
  Status run(queue::RunControl&) noexcept override { return {}; }
  void release() noexcept override {}
};

class MillraceQueue {
 public:
  static constexpr std::chrono::microseconds kParkAtOnce{0};

  // `spin` is the time for which the lane and a waiter spin before they sleep.
  explicit MillraceQueue(uint32_t depth,
                         std::chrono::microseconds spin = queue::LanesOptions().spin)
      : lanes_({.count = 1, .spin = spin}) {
    queue::UnitOptions options;
    options.depth = depth;
    options.make_task = [] { return std::make_unique<NullTask>(); };
    options.wait_spin = spin;
    unit_ = *queue::Unit::create(lanes_, std::move(options));
  }

  uint64_t submit() {
    const Result<queue::SequenceId> id = unit_->submit(fill_nothing);
    return id.ok() ? *id : 0;
  }
  void wait(uint64_t id) { benchmark::DoNotOptimize(unit_->wait(id, kForever)); }
  uint64_t completed() const { return queue::counter_of(unit_->last_completed()); }

  queue::Unit& unit() { return *unit_; }
  static void fill_nothing(queue::Task&) {}

 private:
  queue::Lanes lanes_;
  std::unique_ptr<queue::Unit> unit_;
};

}  // namespace millrace::bench
