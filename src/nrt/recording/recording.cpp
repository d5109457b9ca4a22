#include "nrt/recording/recording.h"

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

std::vector<Event> Recording::take(uint64_t max_events, std::optional<uint32_t> core) {
  const std::lock_guard lock(mutex_);
  if (log_ == nullptr) return {};
  std::vector<Event> taken = log_->look(max_events, core);
  log_->forget(taken);
  return taken;
}

std::optional<Status> Recording::save(uint32_t core, const Save& save) {
  const std::lock_guard lock(mutex_);
  if (!on_) return std::nullopt;
  const std::vector<Event> events = log_->look(UINT64_MAX, core);
  Status saved = save(events);
  if (saved.ok()) log_->forget(events);
  return saved;
}

std::optional<Status> Recording::finish(const Save& save) {
  const std::lock_guard lock(mutex_);
  if (!on_) return std::nullopt;
  MILLRACE_RETURN_IF_ERROR(save(log_->look(UINT64_MAX, std::nullopt)));
  remove_listener(*log_);
  log_.reset();
  on_ = false;
  return Status();
}

}  // namespace millrace::nrt::trace
