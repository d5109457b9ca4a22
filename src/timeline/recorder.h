// Recorder: observes the table of hooks (base/hooks.h) and keeps the last events of every thread in
// rings. An event takes no lock and allocates nothing, but for the first event of a thread, which
// gets a ring.
//
// A recording keeps all events, or only as many as take a small share of the time of a thread. Then
// it observes the events of jobs only, and, while a thread has more of them, those of one job in 2,
// 4, 8 and so on (its level). Failures are kept at every level.
//
// A ring whose thread has ended is passed to the next new thread, with its events, so there are at
// most as many rings as threads at one time. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "timeline/event.h"

namespace millrace::timeline {

// At level n, one job in 2^n is recorded.
inline constexpr int kLevels = 13;

// The events that are still kept, and what surrounds them.
struct Recording {
  int64_t begin_ns = 0;       // when the recording began
  int64_t end_ns = 0;         // when this was taken
  std::vector<Event> events;  // in the order of their times
  uint64_t dropped = 0;  // events that newer ones have replaced, or for which there was no ring
  std::map<ThreadId, std::string> threads;  // names at the first event of each
  std::map<uint16_t, std::string> units;    // names of the last unit of each id
  // For each level, the last time at which it or a higher one was in force; 0 if never. The largest
  // time means now.
  std::array<int64_t, kLevels> thinned_until{};

  // Whether an event of this job, or of whatever has this id, may be missing although it happened
  // after `since_ns`.
  bool may_lack(uint64_t subject, int64_t since_ns) const noexcept;
};

// The events that a thread keeps, unless start() says otherwise.
inline constexpr size_t kUsualRoom = size_t{1} << 16;

enum class Detail : uint8_t {
  kAll,
  kAffordable,  // as many events of jobs as take half a percent of the time of a thread
};

// Begins to record. `room` is the number of events for which a ring has room, a power of two; rings
// of threads that have one already are as large as they were. kInvalidArgument when it records
// already, kResourceExhausted when the table of hooks is full.
Status start_recording(size_t room = kUsualRoom, Detail detail = Detail::kAll);
// Ends the recording; its events are still there until the next one begins.
void stop_recording();
bool is_recording() noexcept;

// Gives a unit its name in the recording that is going on, if one is.
void name_unit(uint16_t unit, std::string_view name) noexcept;

// Returns the events since the recording began. May be called while it goes on.
Recording current_recording();

}  // namespace millrace::timeline
