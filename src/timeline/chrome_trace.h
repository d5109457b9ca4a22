// Writes a timeline in the Trace Event Format (JSON), which Perfetto and chrome://tracing read.
//
//   process "host threads"   what threads of the program did: submits, waits, callbacks, syncs
//   process "lanes"          what ran: a slice for each job that has started, with an arrow from
//                            its submit
//   process "units"          for each unit, the number of jobs that wait, and those that have ended
//                            without having run
//   process "between ranks"  collective operations, sends and receives, if there are any
//
// Times are microseconds since the recording began. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "timeline/text_sink.h"
#include "timeline/timeline.h"

namespace millrace::timeline {

// Writes the text, of which only a small part is in memory at a time.
Status write_chrome_trace(const Timeline& timeline, const TextSink& sink);
std::string chrome_trace(const Timeline& timeline);

}  // namespace millrace::timeline
