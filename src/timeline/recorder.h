// Recorder: observes the table of hooks (base/hooks.h) and keeps the last events of every thread in
// rings. An event costs some tens of nanoseconds, takes no lock and allocates nothing, but for the
// first event of a thread, which gets a ring.
//
// A ring whose thread has ended is passed to the next new thread, with its events, so there are at
// most as many rings as threads at one time. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "timeline/event.h"

namespace millrace::timeline {

// The events that are still kept, and what surrounds them.
struct Recording {
  int64_t begin_ns = 0;       // when the recording began
  int64_t end_ns = 0;         // when this was taken
  std::vector<Event> events;  // in the order of their times
  uint64_t dropped = 0;  // events that newer ones have replaced, or for which there was no ring
  std::map<ThreadId, std::string> threads;  // names at the first event of each
  std::map<uint16_t, std::string> units;    // names of the last unit of each id
};

// The events that a thread keeps, unless start() says otherwise.
inline constexpr size_t kUsualRoom = size_t{1} << 16;

// Begins to record. `room` is the number of events for which a ring has room, a power of two; rings
// of threads that have one already are as large as they were. kInvalidArgument when it records
// already, kResourceExhausted when the table of hooks is full.
Status start_recording(size_t room = kUsualRoom);
// Ends the recording; its events are still there until the next one begins.
void stop_recording();
bool is_recording() noexcept;

// Gives a unit its name in the recording that is going on, if one is.
void name_unit(uint16_t unit, std::string_view name) noexcept;

// Returns the events since the recording began. May be called while it goes on.
Recording current_recording();

}  // namespace millrace::timeline
