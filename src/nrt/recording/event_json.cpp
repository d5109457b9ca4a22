#include "nrt/recording/event_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "nrt/terms/status.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt::trace {
namespace {

using Json = nlohmann::ordered_json;

// The start or the stop of an event.
struct Moment {
  const Event* event;
  bool is_end;
  int64_t time_ns() const noexcept { return is_end ? event->span.end_ns : event->span.begin_ns; }
};

std::vector<Moment> moments_of(std::span<const Event> events) {
  std::vector<Moment> moments;
  moments.reserve(events.size() * 2);
  for (const Event& event : events)
    moments.insert(moments.end(), {{&event, false}, {&event, true}});
  std::ranges::stable_sort(moments, {}, &Moment::time_ns);
  return moments;
}

void add_run(Json& data, const Span& span) {
  data["unit"] = name_of(address_with(queue::unit_of(span.sequence)));
  if (span.type != kExecRunning) data["bytes"] = span.bytes;
  if (span.scheduled_ns != 0) data["queued_ns"] = span.begin_ns - span.scheduled_ns;
}

Json data_of(const Moment& moment) {
  const Span& span = moment.event->span;
  Json data = Json::object();
  if (span.type == kExecRunning) {
    data["nc_timestamp_ns"] = moment.time_ns();
    data["model"] = moment.event->model;
  }
  // A string, since JSON readers such as JavaScript store numbers as doubles, which cannot hold
  // every 64-bit integer.
  if (span.sequence != 0) data["sequence_id"] = fmt::format("{:#x}", span.sequence);
  if (is_run(span.type)) add_run(data, span);
  if (moment.is_end) data["status"] = name_of(span.status);
  return data;
}

Json to_json(const Moment& moment) {
  const Span& span = moment.event->span;
  Json json = {{"event_type", event_type_names()[span.type]},
               {"phase", moment.is_end ? "stop" : "start"},
               {"tracking_id", moment.event->tracking_id},
               {"timestamp_ns", moment.time_ns()},
               {"thread_id", span.thread}};
  if (span.core >= 0) json["nc_idx"] = span.core;
  json["data"] = data_of(moment);
  return json;
}

}  // namespace

std::string to_json(std::span<const Event> events) {
  Json list = Json::array();
  for (const Moment& moment : moments_of(events)) list.push_back(to_json(moment));
  // Bytes of a name that are not UTF-8 are replaced rather than refused.
  return Json{{"events", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace millrace::nrt::trace
