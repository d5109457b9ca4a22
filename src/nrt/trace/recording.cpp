#include "nrt/trace/recording.h"

#include <utility>

namespace millrace::nrt::trace {

bool Recording::start(const Capture& capture) {
  const std::lock_guard lock(mutex_);
  if (on_) return false;
  log_ = std::make_shared<EventLog>(capture);
  add_listener(log_);
  on_ = true;
  return true;
}

bool Recording::stop() {
  const std::lock_guard lock(mutex_);
  if (!on_) return false;
  remove_listener(*log_);
  on_ = false;
  return true;
}

bool Recording::is_on() const {
  const std::lock_guard lock(mutex_);
  return on_;
}

std::vector<Event> Recording::take(uint64_t max_events, std::optional<uint32_t> core) {
  const std::lock_guard lock(mutex_);
  return log_ == nullptr ? std::vector<Event>() : log_->take(max_events, core);
}

}  // namespace millrace::nrt::trace
