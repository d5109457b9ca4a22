// Recording: an event log that listens for as long as it is on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "nrt/recording/event_log.h"

namespace millrace::nrt::trace {

// Any thread.
class Recording {
 public:
  // Writes events somewhere. Meanwhile others may record, but not start, stop, save or take.
  using Save = std::function<Status(std::span<const Event>)>;

  // Begins with an empty log; false, and nothing has changed, when it is on already.
  bool start(const Capture& capture);
  // False when it was not on. What was recorded stays.
  bool stop();

  // What EventLog::take returns; nothing before the first start.
  std::vector<Event> take(uint64_t max_events = UINT64_MAX,
                          std::optional<uint32_t> core = std::nullopt);
  // Saves what was recorded of a core, and forgets it; none, and nothing is saved, when it is not
  // on. What cannot be saved stays.
  std::optional<Status> save(uint32_t core, const Save& save);
  // Saves everything and ends, likewise. When it cannot be saved, it goes on.
  std::optional<Status> finish(const Save& save);

 private:
  std::mutex mutex_;
  std::shared_ptr<EventLog> log_;
  bool on_ = false;
};

}  // namespace millrace::nrt::trace
