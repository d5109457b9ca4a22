#include "queue/requests/run_control.h"

#include "base/never_destroyed.h"

namespace millrace::queue {

namespace {

// The statuses of one kind. Never destroyed, since requests may end while the process exits.
class Statuses {
 public:
  Statuses(const char* cancelled, const char* late) noexcept
      : cancelled_(StatusCode::kCancelled, cancelled), late_(StatusCode::kDeadlineExceeded, late) {}

  const Status& of(StopCause cause) const noexcept {
    switch (cause) {
      case StopCause::kCancelled:
        return cancelled_;
      case StopCause::kDeadline:
        return late_;
      case StopCause::kNone:
        break;
    }
    return none_;
  }

 private:
  const Status none_, cancelled_, late_;
};

}  // namespace

const Status& stopped_status(StopCause cause) {
  static NeverDestroyed<Statuses> statuses(
      "cancelled after it had started: its outputs are undefined",
      "its deadline passed after it had started: its outputs are undefined");
  return statuses.get().of(cause);
}

const Status& removed_status(StopCause cause) {
  static NeverDestroyed<Statuses> statuses("cancelled before it started: its outputs are untouched",
                                           "its deadline passed before it started");
  return statuses.get().of(cause);
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
