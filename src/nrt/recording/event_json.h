// The JSON text in which nrt_sys_trace_fetch_events and system profiles represent events.
#pragma once

#include <span>
#include <string>

#include "nrt/recording/event_log.h"

namespace millrace::nrt::trace {

// Returns a JSON object whose array "events" has two entries for each event, one for its start and
// one for its stop, sorted by time.
std::string to_json(std::span<const Event> events);

}  // namespace millrace::nrt::trace
