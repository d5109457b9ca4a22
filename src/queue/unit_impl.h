// The inside of Unit: puts the parts together. Ring keeps order and storage, Source and lanes give
// it a thread, ResultTable remembers, Waiters and the dispatcher tell the news.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "queue/dispatcher.h"
#include "queue/lanes_impl.h"
#include "queue/result_table.h"
#include "queue/ring.h"
#include "queue/source.h"
#include "queue/unit.h"
#include "queue/unit_ids.h"
#include "queue/visitors.h"
#include "queue/waiters.h"

namespace millrace::queue {

class Unit::Impl final : public Source {
 public:
  Impl(Lanes::Impl& lanes, UnitOptions options, UnitId id);

  Status make_tasks(const TaskFactory& make_task);
  // Ends the unit: see ~Unit. Afterwards only lanes that are about to forget the source may touch
  // this object.
  void close();

  Result<SequenceId> claim(Task*& task, bool with_callback);
  void publish(uint64_t counter, Callback callback) noexcept;
  Status wait(SequenceId id, std::chrono::nanoseconds timeout);

  const Ring& ring() const noexcept { return ring_; }
  uint16_t id() const noexcept { return id_.value(); }
  SequenceId sequence(uint64_t counter) const noexcept {
    return SequenceId{id()} << kCounterBits | counter;
  }
  bool issued(SequenceId sequence) const noexcept {
    return unit_of(sequence) == id() && counter_of(sequence) != 0 &&
           counter_of(sequence) <= ring_.issued();
  }

  bool has_work() const noexcept override { return !closing() && ring_.has_head(); }
  uint64_t ticket() const noexcept override;
  void run_one(LaneId lane) noexcept override;

 private:
  void complete(uint64_t counter, Status status) noexcept;
  bool wait_until_completed(uint64_t counter, std::chrono::nanoseconds timeout);
  Status result(uint64_t counter) const;
  Status unknown(SequenceId sequence) const;

  const UnitId id_;
  Lanes::Impl& lanes_;
  const std::chrono::nanoseconds wait_spin_;
  CompletionListener on_complete_;
  std::shared_ptr<Dispatcher> dispatcher_;
  // Without callbacks ~Unit need not wait for those of other units. Relaxed: read after
  // Ring::wait_for_submitters.
  std::atomic<bool> any_callback_{false};
  // Made once, so that refusing a request and polling one cost no allocation.
  const Status full_;
  const Status pending_;

  Ring ring_;
  ResultTable results_;
  Waiters waiters_;
  Visitors inside_wait_;
};

}  // namespace millrace::queue
