// RequestUnit: a queue::Unit together with the sequence ids and event file descriptors that the NRT
// API returns for its requests. "Outward" ids are those that programs see, "inward" ids those of
// the core. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"
#include "device/faulty/fault_plan.h"
#include "nrt/requests/releases.h"
#include "nrt/terms/unit_address.h"
#include "queue/units/unit.h"

namespace millrace::nrt {

class RequestUnit {
 public:
  // `faults` is the plan of the unit's work, or null.
  RequestUnit(uint16_t number, std::unique_ptr<queue::Unit> unit,
              std::shared_ptr<const Releases> releases,
              std::shared_ptr<device::FaultPlan> faults) noexcept
      : number_(number),
        unit_(std::move(unit)),
        releases_(std::move(releases)),
        faults_(std::move(faults)) {}

  queue::Unit& queue_unit() noexcept { return *unit_; }
  uint16_t number() const noexcept { return number_; }
  // Returns kQueueFull if a fault plan refuses the next call that submits a request.
  Status admit_call() noexcept {
    return faults_ == nullptr ? Status() : faults_->admit_call(unit_->id());
  }
  nrta_seq_t outward(queue::SequenceId id) const noexcept { return outward_id(number_, id); }
  queue::SequenceId inward(nrta_seq_t sequence) const noexcept {
    return queue::sequence_of(unit_->id(), queue::counter_of(sequence));
  }
  // True if a request with that id was accepted.
  bool issued(nrta_seq_t sequence) const noexcept {
    const uint64_t counter = queue::counter_of(sequence);
    return counter != 0 && counter <= queue::counter_of(unit_->last_submitted());
  }

  // Blocks as Units::await_releases, but not for a request that hung, which keeps its references.
  void await_releases() const noexcept;

  // Returns a new descriptor that becomes readable when the request completes, for programs of SDK
  // 2.28. The caller closes it. kIoError when the process has no descriptor left.
  Result<int> completion_handle(nrta_seq_t sequence);

 private:
  void forget_completed();

  const uint16_t number_;  // the unit's number in outward ids
  const std::unique_ptr<queue::Unit> unit_;
  const std::shared_ptr<const Releases> releases_;
  const std::shared_ptr<device::FaultPlan> faults_;
  std::mutex mutex_;
  std::map<nrta_seq_t, UniqueFd> handles_;  // event fds of requests that have not completed
};

}  // namespace millrace::nrt
