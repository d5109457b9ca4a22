// Recording: an event log that listens for as long as it is on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "nrt/trace/event_log.h"

namespace millrace::nrt::trace {

// Any thread.
class Recording {
 public:
  // Begins with an empty log; false, and nothing has changed, when it is on already.
  bool start(const Capture& capture);
  // False when it was not on. What was recorded stays.
  bool stop();
  bool is_on() const;

  // What EventLog::take returns; nothing before the first start.
  std::vector<Event> take(uint64_t max_events = UINT64_MAX,
                          std::optional<uint32_t> core = std::nullopt);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<EventLog> log_;
  bool on_ = false;
};

}  // namespace millrace::nrt::trace
