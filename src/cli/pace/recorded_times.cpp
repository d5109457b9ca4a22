#include "cli/pace/recorded_times.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/format_status.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::json;
using std::chrono::nanoseconds;

// Beyond these a log is damaged: their sums over all files of a command line are numbers that fit.
constexpr uint64_t kMostFrames = uint64_t{1} << 40;
constexpr double kLongestUs = 1e12;

void add(const RecordedTimes& times, RecordedTimes& all) {
  all.samples.insert(all.samples.end(), times.samples.begin(), times.samples.end());
  all.total += times.total;
  all.frames += times.frames;
  for (const auto& [node, time] : times.operators) all.operators[node] += time;
  all.operator_frames += times.operator_frames;
}

// An execution or a transfer that has started.
struct Started {
  std::string model;  // empty for a transfer
  uint64_t at_ns = 0;
};

bool is_transfer(std::string_view type) {
  return type == "tensor_read_running" || type == "tensor_write_running" ||
         type == "tensor_copy_running";
}

// Starts and stops of a run have the same tracking id. Traces are rings, so that the start or the
// stop of some runs may be missing; those do not count.
void add_event(const Json& event, std::map<uint64_t, Started>& started, RecordedLogs& logs) {
  const Json& type = event.at("event_type");
  const bool transfer = type.is_string() && is_transfer(type.get_ref<const std::string&>());
  if (!transfer && type != "nc_exec_running") return;
  const uint64_t id = event.at("tracking_id");
  const uint64_t at_ns = event.at("timestamp_ns");
  if (event.at("phase") == "start") {
    std::string model = transfer ? "" : event.at("data").value("model", "*");
    started.insert_or_assign(id, Started{std::move(model), at_ns});
    return;
  }
  const auto begun = started.find(id);
  if (begun == started.end()) return;
  const uint64_t time_ns = at_ns - begun->second.at_ns;
  if (at_ns > begun->second.at_ns && static_cast<double>(time_ns) <= kLongestUs * 1'000) {
    const nanoseconds time(static_cast<int64_t>(time_ns));
    if (transfer)
      logs.transfers.add(event.at("data").at("bytes"), time);
    else
      logs.models[begun->second.model].samples.push_back(time);
  }
  started.erase(begun);
}

void add_events(const Json& events, RecordedLogs& logs) {
  std::map<uint64_t, Started> started;
  for (const Json& event : events) add_event(event, started, logs);
}

bool is_time(double us) {
  return us >= 0 && us <= kLongestUs;
}
nanoseconds time_of(double us) {
  return nanoseconds(std::llround(us * 1'000));
}

void add_profile(const Json& profile, RecordedLogs& logs) {
  const uint64_t frames = profile.contains("frames") ? profile["frames"] : profile.at("jobs");
  const double total_us = profile.at("execute_us");
  if (frames == 0 || frames > kMostFrames || !(total_us > 0 && is_time(total_us))) return;
  RecordedTimes& times = logs.models[profile.at("model").get<std::string>()];
  times.frames += frames;
  times.total += time_of(total_us);
  if (!profile.contains("entries")) return;
  times.operator_frames += frames;
  for (const Json& entry : profile["entries"]) {
    if (entry.value("kind", "") != "operator") continue;
    const std::string node = entry.value("node", "");
    const double us = entry.at("total_us");
    if (!node.empty() && is_time(us)) times.operators[node] += time_of(us);
  }
}

// The tracks of a model profile, by their names.
struct ModelTracks {
  std::optional<int64_t> executions, operators;

  explicit ModelTracks(const Json& events) {
    for (const Json& event : events) {
      if (event.value("name", "") != "thread_name") continue;
      const std::string name = event.at("args").at("name");
      if (name == "executions") executions = event.at("tid");
      if (name == "operators") operators = event.at("tid");
    }
  }
};

// Each frame begins with its inputs; an execution may have several.
Status add_model_profile(const Json& events, RecordedLogs& logs) {
  const ModelTracks tracks(events);
  if (!tracks.executions || !tracks.operators)
    return invalid_argument("has no tracks of executions and operators, as a model profile of NRT");
  RecordedTimes times;
  std::string model;
  uint64_t executions = 0, frames = 0;
  for (const Json& event : events) {
    if (event.at("ph") != "X") continue;
    const double us = event.at("dur");
    if (!is_time(us)) continue;
    const std::string name = event.at("name");
    if (event.at("tid") == *tracks.executions) {
      model = name;
      ++executions;
      times.samples.push_back(time_of(us));
    } else if (event.at("tid") == *tracks.operators) {
      if (name == "inputs") ++frames;
      if (name != "inputs" && name != "outputs") times.operators[name] += time_of(us);
    }
  }
  if (executions == 0) return {};
  times.operator_frames = std::max<uint64_t>(frames, executions);
  if (times.operator_frames != executions) {
    for (const nanoseconds sample : times.samples) times.total += sample;
    times.samples.clear();
    times.frames = times.operator_frames;
  }
  add(times, logs.models[model]);
  return {};
}

Status add_log(const Json& log, RecordedLogs& logs) {
  if (log.is_object() && log.contains("events"))
    add_events(log["events"], logs);
  else if (log.is_object() && log.contains("execute_us"))
    add_profile(log, logs);
  else if (log.is_object() && log.contains("traceEvents"))
    MILLRACE_RETURN_IF_ERROR(add_model_profile(log["traceEvents"], logs));
  else
    return invalid_argument("is neither a trace or a profile of NRT nor a profile of VART");
  if (!logs.models.empty() || logs.transfers.pace()) return {};
  return invalid_argument("has no job that has ended");
}

}  // namespace

void RecordedTransfers::add(uint64_t bytes, nanoseconds time) noexcept {
  const auto size = static_cast<double>(bytes), ns = static_cast<double>(time.count());
  count_ += 1;
  bytes_ += size;
  ns_ += ns;
  bytes_squared_ += size * size;
  bytes_ns_ += size * ns;
}

void RecordedTransfers::add(const RecordedTransfers& others) noexcept {
  count_ += others.count_;
  bytes_ += others.bytes_;
  ns_ += others.ns_;
  bytes_squared_ += others.bytes_squared_;
  bytes_ns_ += others.bytes_ns_;
}

std::optional<device::TransferPace> RecordedTransfers::pace() const noexcept {
  if (!(bytes_ > 0 && ns_ > 0)) return std::nullopt;
  const double spread = count_ * bytes_squared_ - bytes_ * bytes_;
  const double ns_per_byte =
      spread > 0 ? (count_ * bytes_ns_ - bytes_ * ns_) / spread : ns_ / bytes_;
  const double fixed_ns = (ns_ - ns_per_byte * bytes_) / count_;
  // Neither can be negative: where they seem to be, the sizes are too much alike.
  if (!(ns_per_byte > 0) || fixed_ns <= 0)
    return device::TransferPace{.fixed = nanoseconds(0), .bytes_per_second = bytes_ / ns_ * 1e9};
  return device::TransferPace{.fixed = nanoseconds(std::llround(fixed_ns)),
                              .bytes_per_second = 1e9 / ns_per_byte};
}

Status add_recorded_times(std::string_view text, RecordedLogs& logs) {
  RecordedLogs found;
  try {
    MILLRACE_RETURN_IF_ERROR(add_log(Json::parse(text), found));
  } catch (const Json::exception& error) {
    return invalid_argument(std::string("is not a log of a known kind: ") + error.what());
  }
  for (const auto& [name, times] : found.models) add(times, logs.models[name]);
  logs.transfers.add(found.transfers);
  return {};
}

}  // namespace millrace::cli
