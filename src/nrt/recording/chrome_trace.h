// ChromeTrace: a timeline of slices on named tracks, in the Trace Event Format (JSON) that Perfetto
// and chrome://tracing read. Not thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "nrt/recording/event_log.h"

namespace millrace::nrt::trace {

class ChromeTrace {
 public:
  using Json = nlohmann::ordered_json;
  using Track = int64_t;

  void name_track(Track track, const std::string& name);
  void add_slice(Track track, const std::string& name, int64_t begin_ns, int64_t end_ns,
                 Json arguments = Json::object());
  std::string text() const;

 private:
  Json events_ = Json::array();
};

// Returns the arguments of a slice for a span: "status" and, where the span has them,
// "sequence_id", "queued_us" (time between scheduling and begin) and "bytes".
ChromeTrace::Json arguments_of(const Span& span);

// Returns the trace of events, with a track for each unit and for each thread that made calls.
ChromeTrace chrome_trace_of(std::span<const Event> events);

}  // namespace millrace::nrt::trace
