// ChromeTrace: slices on named tracks, in the JSON form that Perfetto and chrome://tracing open.
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

// "status", and those of "sequence_id", "queued_us" and "bytes" that the span has.
ChromeTrace::Json arguments_of(const Span& span);

// A track for each unit, and one for each thread that made calls.
ChromeTrace chrome_trace_of(std::span<const Event> events);

}  // namespace millrace::nrt::trace
