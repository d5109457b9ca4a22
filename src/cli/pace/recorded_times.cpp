#include "cli/pace/recorded_times.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/format_status.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::json;
using std::chrono::nanoseconds;

// Beyond these a log is damaged: their sums over all files of a command line are numbers that fit.
constexpr uint64_t kMostFrames = uint64_t{1} << 40;
constexpr double kLongestUs = 1e12;

// An execution that has started.
struct Started {
  std::string model;
  uint64_t at_ns = 0;
};

// Starts and stops of an execution have the same tracking id. Traces are rings, so that the start
// or the stop of some executions may be missing; those do not count.
void add_event(const Json& event, std::map<uint64_t, Started>& started, RecordedModels& models) {
  if (event.at("event_type") != "nc_exec_running") return;
  const uint64_t id = event.at("tracking_id");
  const uint64_t at_ns = event.at("timestamp_ns");
  if (event.at("phase") == "start") {
    started.insert_or_assign(id, Started{event.at("data").value("model", "*"), at_ns});
    return;
  }
  const auto begun = started.find(id);
  if (begun == started.end()) return;
  const uint64_t time_ns = at_ns - begun->second.at_ns;
  if (at_ns > begun->second.at_ns && static_cast<double>(time_ns) <= kLongestUs * 1'000)
    models[begun->second.model].samples.emplace_back(static_cast<int64_t>(time_ns));
  started.erase(begun);
}

void add_events(const Json& events, RecordedModels& models) {
  std::map<uint64_t, Started> started;
  for (const Json& event : events) add_event(event, started, models);
}

void add_profile(const Json& profile, RecordedModels& models) {
  const uint64_t frames = profile.contains("frames") ? profile["frames"] : profile.at("jobs");
  const double total_us = profile.at("execute_us");
  if (frames == 0 || frames > kMostFrames || !(total_us > 0 && total_us <= kLongestUs)) return;
  RecordedTimes& times = models[profile.at("model").get<std::string>()];
  times.frames += frames;
  times.total += nanoseconds(std::llround(total_us * 1'000));
}

Status add_log(const Json& log, RecordedModels& models) {
  if (log.is_object() && log.contains("events"))
    add_events(log["events"], models);
  else if (log.is_object() && log.contains("execute_us"))
    add_profile(log, models);
  else
    return invalid_argument("is neither a system trace of NRT nor a profile of VART");
  return models.empty() ? invalid_argument("has no job that has ended") : Status();
}

}  // namespace

Status add_recorded_times(std::string_view text, RecordedModels& models) {
  RecordedModels found;
  try {
    MILLRACE_RETURN_IF_ERROR(add_log(Json::parse(text), found));
  } catch (const Json::exception& error) {
    return invalid_argument(std::string("is not a log of a known kind: ") + error.what());
  }
  for (auto& [name, times] : found) {
    RecordedTimes& all = models[name];
    all.samples.insert(all.samples.end(), times.samples.begin(), times.samples.end());
    all.total += times.total;
    all.frames += times.frames;
  }
  return {};
}

}  // namespace millrace::cli
