#include "nrt/recording/chrome_trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "base/clock.h"
#include "base/float_environment.h"
#include "nrt/terms/status.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt::trace {

void ChromeTrace::name_track(Track track, const std::string& name) {
  events_.push_back({{"ph", "M"},
                     {"name", "thread_name"},
                     {"pid", ::getpid()},
                     {"tid", track},
                     {"args", {{"name", name}}}});
}

// The format requires times in microseconds.
void ChromeTrace::add_slice(Track track, const std::string& name, int64_t begin_ns, int64_t end_ns,
                            Json arguments) {
  events_.push_back({{"ph", "X"},
                     {"name", name},
                     {"pid", ::getpid()},
                     {"tid", track},
                     {"ts", to_microseconds(begin_ns)},
                     {"dur", to_microseconds(end_ns - begin_ns)},
                     {"args", std::move(arguments)}});
}

std::string ChromeTrace::text() const {
  const DefaultFloatEnvironment floats;
  const Json json = {{"traceEvents", events_}, {"displayTimeUnit", "ns"}};
  // Bytes of a name that are not UTF-8 are replaced rather than refused.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ChromeTrace::Json arguments_of(const Span& span) {
  ChromeTrace::Json arguments = {{"status", name_of(span.status)}};
  // A string, since viewers store numbers as doubles, which cannot hold every 64-bit integer.
  if (span.sequence != 0) arguments["sequence_id"] = fmt::format("{:#x}", span.sequence);
  if (span.scheduled_ns != 0)
    arguments["queued_us"] = to_microseconds(span.begin_ns - span.scheduled_ns);
  if (is_run(span.type) && span.type != kExecRunning) arguments["bytes"] = span.bytes;
  return arguments;
}

ChromeTrace chrome_trace_of(std::span<const Event> events) {
  const DefaultFloatEnvironment floats;
  ChromeTrace trace;
  std::set<ChromeTrace::Track> named;
  for (const Event& event : events) {
    const Span& span = event.span;
    const uint16_t unit = queue::unit_of(span.sequence);
    // Units get negative track numbers, which cannot collide with thread ids.
    const ChromeTrace::Track track = is_run(span.type) ? -1 - unit : span.thread;
    if (named.insert(track).second)
      trace.name_track(track, is_run(span.type) ? name_of(address_with(unit))
                                                : fmt::format("calls of thread {}", span.thread));
    trace.add_slice(track, span.type == kExecRunning ? event.model : event_type_names()[span.type],
                    span.begin_ns, span.end_ns, arguments_of(span));
  }
  return trace;
}

}  // namespace millrace::nrt::trace
