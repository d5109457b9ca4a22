#include "queue/run_control.h"

namespace millrace::queue {

const Status& stopped_status(StopCause cause) {
  // Never destroyed: requests may end while the process exits.
  static const auto* none = new Status;
  static const auto* cancelled = new Status(
      StatusCode::kCancelled, "cancelled after it had started: its outputs are undefined");
  static const auto* late = new Status(StatusCode::kDeadlineExceeded,
                                       "its deadline passed after it had started: its outputs are "
                                       "undefined");
  switch (cause) {
    case StopCause::kCancelled:
      return *cancelled;
    case StopCause::kDeadline:
      return *late;
    case StopCause::kNone:
      break;
  }
  return *none;
}

void RunControl::notify_progress(ProgressObserver* observer) noexcept {
  if (observer->outer_ != nullptr) notify_progress(observer->outer_);
  observer->on_progress(*this);
}

void RunControl::notify_steps_done(ProgressObserver* observer) noexcept {
  if (observer->outer_ != nullptr) notify_steps_done(observer->outer_);
  observer->on_steps_done(*this);
}

}  // namespace millrace::queue
