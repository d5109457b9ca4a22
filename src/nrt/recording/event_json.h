// Events as the text that nrt_sys_trace_fetch_events hands out.
#pragma once

#include <span>
#include <string>

#include "nrt/recording/event_log.h"

namespace millrace::nrt::trace {

// An object whose array "events" has two objects for each event, all in the order of their times.
std::string to_json(std::span<const Event> events);

}  // namespace millrace::nrt::trace
