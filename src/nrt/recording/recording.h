// Recording: an event log that listens while the recording is on. Thread-safe.
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
  // Writes the events to a file. Meanwhile events are still recorded, but start, stop, save, finish
  // and take wait.
  using Save = std::function<Status(std::span<const Event>)>;

  // Begins with an empty log. False, and nothing has changed, when the recording is on already.
  bool start(const Capture& capture);
  // False when the recording was not on. The recorded events stay.
  bool stop();

  // Removes and returns events, as EventLog::look; none before the first start.
  std::vector<Event> take(uint64_t max_events = UINT64_MAX,
                          std::optional<uint32_t> core = std::nullopt);
  // Saves the events of a core and forgets them; they stay when they cannot be saved. None, and
  // nothing is saved, when the recording is not on.
  std::optional<Status> save(uint32_t core, const Save& save);
  // Saves all events and ends the recording, which goes on when they cannot be saved. None as
  // above.
  std::optional<Status> finish(const Save& save);

 private:
  std::mutex mutex_;
  std::shared_ptr<EventLog> log_;
  bool on_ = false;
};

}  // namespace millrace::nrt::trace
