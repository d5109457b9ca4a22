// RequestTask: the base class of all requests of the NRT API. It translates the status of a request
// and stores it where the program expects it, logs failures, and releases references afterwards.
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
#include "queue/requests/request.h"

namespace millrace::nrt {

// The destination of a request's status: a variable of the caller, which must exist until the
// request completes, or an error tracker, which records failures only, or neither.
struct StatusTarget {
  NRT_STATUS* ret = nullptr;
  std::shared_ptr<ErrorTracker> tracker;
};

// The data that all requests of a unit share.
struct UnitContext {
  uint16_t number = 0;
  std::optional<NRT_STATUS> fault_status;  // status of device failures instead of NRT_HW_ERROR
  std::shared_ptr<Releases> releases;
};

class RequestTask : public queue::Task {
 public:
  explicit RequestTask(UnitContext unit) noexcept : unit_(std::move(unit)) {}

  void write_status(const queue::Completion& completion) noexcept final;
  void release() noexcept final;

 protected:
  // Sets the destination of the status. Called by fill() of the derived classes.
  void report_to(StatusTarget target) noexcept {
    target_ = std::move(target);
    scheduled_ns_ = trace::listening() ? now_ns() : 0;
  }
  nrta_seq_t outward(queue::SequenceId id) const noexcept { return outward_id(unit_.number, id); }
  // The value for trace::Span::scheduled_ns.
  int64_t scheduled_ns() const noexcept { return scheduled_ns_; }
  // Translates a status to the one that the caller gets.
  NRT_STATUS code_of(const Status& status) const noexcept;

 private:
  // Called after the status has been written and before the sequence is published.
  virtual void on_status_written(const queue::Completion&) noexcept {}
  virtual void drop_references() noexcept = 0;
  // Overrides the translation of a failure; nullopt for the usual one.
  virtual std::optional<NRT_STATUS> own_code(const Status&) const noexcept { return std::nullopt; }
  void log_failure(const queue::Completion& completion, NRT_STATUS code) const noexcept;

  const UnitContext unit_;
  StatusTarget target_;
  int64_t scheduled_ns_ = 0;
};

}  // namespace millrace::nrt
