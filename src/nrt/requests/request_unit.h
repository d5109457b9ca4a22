// RequestUnit: a unit of the queue with the sequence ids and event fds that this face gives out for
// it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"
#include "nrt/requests/releases.h"
#include "nrt/terms/unit_address.h"
#include "queue/units/unit.h"

namespace millrace::nrt {

class RequestUnit {
 public:
  RequestUnit(uint16_t number, std::unique_ptr<queue::Unit> unit,
              std::shared_ptr<const Releases> releases) noexcept
      : number_(number), unit_(std::move(unit)), releases_(std::move(releases)) {}

  queue::Unit& queue_unit() noexcept { return *unit_; }
  nrta_seq_t outward(queue::SequenceId id) const noexcept { return outward_id(number_, id); }
  queue::SequenceId inward(nrta_seq_t sequence) const noexcept {
    return queue::sequence_of(unit_->id(), queue::counter_of(sequence));
  }
  nrta_seq_t last_completed() const noexcept { return outward(unit_->last_completed()); }
  // Whether a request with that id was accepted.
  bool issued(nrta_seq_t sequence) const noexcept {
    const uint64_t counter = queue::counter_of(sequence);
    return counter != 0 && counter <= queue::counter_of(unit_->last_submitted());
  }

  // Like Units::await_releases. Does not wait for a request that hung, which keeps its references.
  void await_releases() const noexcept;

  // A new descriptor that is readable once the request has completed, for programs of SDK 2.28; the
  // caller closes it. kIoError when the process has no descriptor left.
  Result<int> completion_handle(nrta_seq_t sequence);

 private:
  void forget_completed();

  const uint16_t number_;  // in the ids that programs see
  const std::unique_ptr<queue::Unit> unit_;
  const std::shared_ptr<const Releases> releases_;
  std::mutex mutex_;
  std::map<nrta_seq_t, UniqueFd> handles_;  // event fds of requests that were asked for one
};

}  // namespace millrace::nrt
