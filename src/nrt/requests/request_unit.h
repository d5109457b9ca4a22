// RequestUnit: an execution unit of the core as this face shows it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"
#include "nrt/requests/releases.h"
#include "nrt/terms/unit_address.h"
#include "queue/unit.h"

namespace millrace::nrt {

// A unit and its number in the ids that programs see.
class RequestUnit {
 public:
  RequestUnit(uint16_t number, std::unique_ptr<queue::Unit> unit,
              std::shared_ptr<const Releases> releases) noexcept
      : number_(number), unit_(std::move(unit)), releases_(std::move(releases)) {}

  queue::Unit& queue() noexcept { return *unit_; }
  nrta_seq_t outward(queue::SequenceId id) const noexcept { return outward_id(number_, id); }
  queue::SequenceId inward(nrta_seq_t sequence) const noexcept {
    return outward_id(unit_->id(), sequence);
  }
  nrta_seq_t last_completed() const noexcept { return outward(unit_->last_completed()); }
  // Whether a request with that id was accepted.
  bool issued(nrta_seq_t sequence) const noexcept {
    const uint64_t counter = queue::counter_of(sequence);
    return counter != 0 && counter <= queue::counter_of(unit_->last_submitted());
  }

  // As Units. Does not wait for a request that hung, which keeps what it has.
  void await_releases() const noexcept;

  // A new descriptor that is readable once the request has completed, for 2.28; the caller closes
  // it. kIoError when the system has none left.
  Result<int> completion_handle(nrta_seq_t sequence);

 private:
  void forget_completed();

  const uint16_t number_;
  const std::unique_ptr<queue::Unit> unit_;
  const std::shared_ptr<const Releases> releases_;
  std::mutex mutex_;
  std::map<nrta_seq_t, UniqueFd> handles_;  // event fds of requests that were asked for one
};

}  // namespace millrace::nrt
