// Recording: an event log that receives events between start() and stop() or finish(). Thread-safe.
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

class Recording {
 public:
  // A function that writes events to a file. While it runs, events are still recorded, but calls of
  // all functions of the class block.
  using Save = std::function<Status(std::span<const Event>)>;

  // Starts with an empty log. False, and nothing has changed, when the recording is on already.
  bool start(const Capture& capture);
  // Stops recording and keeps the recorded events. False when the recording was not on.
  bool stop();

  // Removes and returns events, selected as in EventLog::look(); none before the first start.
  std::vector<Event> take(uint64_t max_events = UINT64_MAX,
                          std::optional<uint32_t> core = std::nullopt);
  // Saves the events of a core and removes them, unless saving fails. Returns nullopt, and saves
  // nothing, when the recording is not on.
  std::optional<Status> save(uint32_t core, const Save& save);
  // Saves all events and stops the recording; if saving fails, the recording continues. Returns
  // nullopt, and saves nothing, when the recording is not on.
  std::optional<Status> finish(const Save& save);

 private:
  std::mutex mutex_;
  std::shared_ptr<EventLog> log_;
  bool on_ = false;
};

}  // namespace millrace::nrt::trace
