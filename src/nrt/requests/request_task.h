// RequestTask: what all requests of the face have in common: where their status goes.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "nrt/nrt_async.h"
#include "nrt/objects/error_tracker.h"
#include "nrt/requests/releases.h"
#include "nrt/terms/unit_address.h"
#include "nrt/trace/tap.h"
#include "queue/request.h"

namespace millrace::nrt {

// Where the status of a request goes when it completes: to a variable of the caller's, which holds
// it until then, or to a tracker, which gets failures only; or nowhere.
struct StatusTarget {
  NRT_STATUS* ret = nullptr;
  std::shared_ptr<ErrorTracker> tracker;
};

// What the requests of a unit share.
struct UnitContext {
  uint16_t number = 0;
  std::optional<NRT_STATUS> fault_status;  // what a failure of the device is called, if not
                                           // NRT_HW_ERROR
  std::shared_ptr<Releases> releases;
};

class RequestTask : public queue::Task {
 public:
  explicit RequestTask(UnitContext unit) noexcept : unit_(std::move(unit)) {}

  void write_status(const queue::Completion& completion) noexcept final;
  void release() noexcept final;

 protected:
  // Called where the request is scheduled, with where its status is to go.
  void report_to(StatusTarget target) noexcept {
    target_ = std::move(target);
    scheduled_ns_ = trace::listening() ? now_ns() : 0;
  }
  nrta_seq_t outward(queue::SequenceId id) const noexcept { return outward_id(unit_.number, id); }
  // As of trace::Span.
  int64_t scheduled_ns() const noexcept { return scheduled_ns_; }
  // What the caller gets for it.
  NRT_STATUS code_of(const Status& status) const noexcept;

 private:
  // The status has been written, and the sequence is about to be published.
  virtual void on_status_written(const queue::Completion&) noexcept {}
  virtual void drop_references() noexcept = 0;

  const UnitContext unit_;
  StatusTarget target_;
  int64_t scheduled_ns_ = 0;
};

}  // namespace millrace::nrt
