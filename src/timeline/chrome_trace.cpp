#include "timeline/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/float_environment.h"

namespace millrace::timeline {
namespace {

using Json = nlohmann::ordered_json;

enum Process : int { kHost = 1, kLanes = 2, kUnits = 3, kRanks = 4 };

// The sink receives pieces of about this size.
constexpr size_t kPiece = size_t{64} << 10;

// An arrow begins in a slice, so a submit, which is one point in time, is a slice of this length.
constexpr int64_t kSubmitNs = 1;

// "3:17": the unit and the number of the job among those of the unit.
std::string short_name(queue::SequenceId id) {
  return fmt::format("{}:{}", queue::unit_of(id), queue::counter_of(id));
}

// Text for ids, since viewers store numbers as doubles, which cannot hold every 64-bit integer.
std::string hexadecimal(uint64_t number) {
  return fmt::format("{:#x}", number);
}

class Writer {
 public:
  Writer(const Timeline& timeline, const TextSink& sink) : timeline_(timeline), sink_(sink) {}

  Status write() && {
    text_ = R"({"displayTimeUnit":"ns","otherData":)";
    append(Json{{"producer", "millrace"},
                {"dropped_events", timeline_.dropped},
                {"process", timeline_.process},
                {"ranks", own_ranks()},
                {"begin_unix_us", timeline_.begin_unix_ns / 1000}});
    text_ += ",\"traceEvents\":[";
    name_process(kHost, "host threads");
    name_process(kLanes, "lanes");
    name_process(kUnits, "units");
    for (size_t row = 0; row < timeline_.rows.size(); ++row)
      name_track(kLanes, static_cast<int64_t>(row), timeline_.rows[row].name);
    for (const Job& job : timeline_.jobs) write(job);
    write_waiting_jobs();
    for (const HostSlice& slice : timeline_.host) write(slice);
    for (const Event& mark : timeline_.marks) write(mark);
    write_exchanges();
    text_ += "\n]}\n";
    flush();
    return failure_;
  }

 private:
  // Bytes of a name that are not UTF-8 are replaced rather than refused.
  void append(const Json& json) {
    text_ += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text_.size() >= kPiece) flush();
  }
  void flush() {
    if (failure_.ok()) failure_ = sink_(text_);
    text_.clear();
  }
  // Each event is written at once, since all of them as objects would take ten times the memory.
  void add(const Json& event) {
    text_ += std::exchange(first_, false) ? "\n" : ",\n";
    append(event);
  }

  double time(int64_t ns) const { return to_microseconds(ns - timeline_.begin_ns); }

  Json event(const char* phase, Process process, int64_t track, const std::string& name,
             const char* category, int64_t time_ns) const {
    return {{"ph", phase},     {"pid", static_cast<int>(process)},
            {"tid", track},    {"name", name},
            {"cat", category}, {"ts", time(time_ns)}};
  }

  void name_process(Process process, const char* name) {
    add({{"ph", "M"},
         {"name", "process_name"},
         {"pid", static_cast<int>(process)},
         {"args", {{"name", name}}}});
    add({{"ph", "M"},
         {"name", "process_sort_index"},
         {"pid", static_cast<int>(process)},
         {"args", {{"sort_index", static_cast<int>(process)}}}});
  }
  void name_track(Process process, int64_t track, const std::string& name) {
    add({{"ph", "M"},
         {"name", "thread_name"},
         {"pid", static_cast<int>(process)},
         {"tid", track},
         {"args", {{"name", name}}}});
  }
  // Returns the track of a thread of the program, which gets its name when it is first used.
  int64_t host_track(ThreadId thread) {
    if (named_threads_.insert(thread).second) {
      const auto name = timeline_.threads.find(thread);
      name_track(
          kHost, thread,
          fmt::format("{} {}", name == timeline_.threads.end() ? "thread" : name->second, thread));
    }
    return thread;
  }
  int64_t unit_track(uint16_t unit) {
    if (named_units_.insert(unit).second) name_track(kUnits, unit, name_of_unit(timeline_, unit));
    return unit;
  }

  void add_slice(Process process, int64_t track, const std::string& name, const char* category,
                 int64_t begin_ns, int64_t end_ns, Json arguments) {
    Json slice = event("X", process, track, name, category, begin_ns);
    slice["dur"] = to_microseconds(end_ns - begin_ns);
    slice["args"] = std::move(arguments);
    add(slice);
  }
  void add_instant(Process process, int64_t track, const std::string& name, const char* category,
                   int64_t time_ns, Json arguments) {
    Json instant = event("i", process, track, name, category, time_ns);
    instant["s"] = "t";
    instant["args"] = std::move(arguments);
    add(instant);
  }
  // An arrow from the submit of a job to its run. `number` tells the arrows apart.
  void add_arrow(const Job& job, uint64_t number) {
    Json begin = event("s", kHost, job.submitter, "submit", "submit", job.submitted_ns);
    begin["id"] = number;
    add(begin);
    Json end =
        event("f", kLanes, static_cast<int64_t>(job.row), "submit", "submit", job.started_ns);
    end["id"] = number;
    end["bp"] = "e";  // the slice that encloses this time, not the next one
    add(end);
  }

  static Json arguments_of(const Job& job) {
    return {{"job", short_name(job.id)},
            {"id", hexadecimal(job.id)},
            {"unit", queue::unit_of(job.id)},
            {"number", queue::counter_of(job.id)},
            {"status", to_string(job.status)}};
  }

  void write(const Job& job) {
    const std::string name = short_name(job.id);
    if (job.submitted_ns != 0)
      add_slice(kHost, host_track(job.submitter), "submit " + name, "submit", job.submitted_ns,
                job.submitted_ns + kSubmitNs, {{"job", name}});
    if (job.started())
      write_run(job, "job " + name);
    else if (job.completed() && !job.start_lost)
      add_instant(kUnits, unit_track(queue::unit_of(job.id)),
                  fmt::format("job {} ended without having run", name), "not_run", job.completed_ns,
                  arguments_of(job));
    else if (job.completed() && job.status != StatusCode::kOk)
      add_instant(kUnits, unit_track(queue::unit_of(job.id)),
                  fmt::format("job {} failed, its start was not recorded", name), "not_run",
                  job.completed_ns, arguments_of(job));
  }

  void write_run(const Job& job, const std::string& name) {
    const auto track = static_cast<int64_t>(job.row);
    Json arguments = arguments_of(job);
    if (job.submitted_ns != 0)
      arguments["waited_us"] = to_microseconds(job.started_ns - job.submitted_ns);
    if (job.lane != queue::kNoLane) arguments["lane"] = job.lane;
    arguments["thread"] = job.runner;
    add_slice(kLanes, track, name, "job", job.started_ns,
              job.completed() ? job.completed_ns : timeline_.end_ns, std::move(arguments));
    for (const Phase& phase : job.phases)
      add_slice(kLanes, track, name_with(phase.name), "phase", phase.begin_ns, phase.end_ns,
                {{"job", short_name(job.id)}});
    if (job.submitted_ns != 0) add_arrow(job, ++arrows_);
  }

  // Returns, for every unit, the highest id of the jobs that are known to have started or ended.
  std::map<uint16_t, queue::SequenceId> newest_begun() const {
    std::map<uint16_t, queue::SequenceId> newest;
    for (const Job& job : timeline_.jobs) {
      if (!job.started() && !job.completed()) continue;
      queue::SequenceId& of_unit = newest[queue::unit_of(job.id)];
      of_unit = std::max(of_unit, job.id);
    }
    return newest;
  }

  // Writes, for every unit, how many jobs wait for their start, whenever that changes. A unit runs
  // its jobs in order, so one that seems to wait behind a job that has begun has lost its events.
  void write_waiting_jobs() {
    struct Change {
      int64_t time_ns;
      int by;
    };
    std::map<uint16_t, std::vector<Change>> changes;
    std::map<uint16_t, queue::SequenceId> newest = newest_begun();
    for (const Job& job : timeline_.jobs) {
      const int64_t left = job.started() ? job.started_ns : job.completed_ns;
      const uint16_t unit = queue::unit_of(job.id);
      if (job.submitted_ns == 0 || (left == 0 && job.id < newest[unit])) continue;
      std::vector<Change>& of_unit = changes[unit];
      of_unit.push_back({job.submitted_ns, +1});
      if (left != 0) of_unit.push_back({left, -1});
    }
    for (auto& [unit, of_unit] : changes) {
      std::ranges::stable_sort(of_unit, {}, &Change::time_ns);
      const int64_t track = unit_track(unit);
      const std::string name = name_of_unit(timeline_, unit) + " waiting";
      int waiting = 0;
      for (const Change& change : of_unit) {
        Json counter = event("C", kUnits, track, name, "waiting", change.time_ns);
        counter["args"] = {{"jobs", waiting += change.by}};
        add(counter);
      }
    }
  }

  void write(const HostSlice& slice) {
    if (slice.work == HostWork::kCallback) {
      // Callbacks of sessions receive the id of a job of the session, which is no sequence id.
      const bool of_session = queue::unit_of(slice.subject) == 0;
      const std::string name =
          of_session ? std::to_string(slice.subject) : short_name(slice.subject);
      add_slice(kHost, host_track(slice.thread), "callback " + name, "callback", slice.begin_ns,
                slice.end_ns, {{of_session ? "session_job" : "job", name}});
      return;
    }
    const std::string name = short_name(slice.subject);
    const std::string category = slice.work == HostWork::kPoll ? "poll" : "wait";
    add_slice(kHost, host_track(slice.thread), category + " " + name, category.c_str(),
              slice.begin_ns, slice.end_ns, {{"job", name}, {"status", to_string(slice.status)}});
  }

  void write(const Event& mark) {
    const auto [name, category] = meaning_of(mark.point, mark.detail);
    add_instant(kHost, host_track(mark.thread), name, category, mark.time_ns, arguments_of(mark));
  }

  // Returns the ranks that this process is, as texts, from the names of its exchanges: "1" for
  // "rank 1 of 0, 1".
  std::set<std::string> own_ranks() const {
    constexpr std::string_view kBefore = "rank ", kAfter = " of ";
    std::set<std::string> ranks;
    for (const Exchange& exchange : timeline_.exchanges) {
      const std::string of = names_of_exchange(exchange.id).second;
      const size_t end = of.find(kAfter);
      if (of.starts_with(kBefore) && end != std::string::npos)
        ranks.insert(of.substr(kBefore.size(), end - kBefore.size()));
    }
    return ranks;
  }

  // Each pair of ends has a track, and another one where exchanges of theirs overlap.
  void write_exchanges() {
    if (timeline_.exchanges.empty()) return;
    name_process(kRanks, "between ranks");
    std::map<std::string, std::vector<int64_t>> tracks;
    std::vector<int64_t> busy_until;  // of each track
    for (const Exchange& exchange : timeline_.exchanges) {
      const auto [operation, ranks] = names_of_exchange(exchange.id);
      std::vector<int64_t>& own = tracks[ranks];
      const auto free = std::ranges::find_if(own, [&](int64_t track) {
        return busy_until[static_cast<size_t>(track)] <= exchange.begin_ns;
      });
      const auto track = free != own.end() ? *free : static_cast<int64_t>(busy_until.size());
      if (free == own.end()) {
        own.push_back(track);
        busy_until.push_back(0);
        name_track(kRanks, track,
                   own.size() == 1 ? ranks : fmt::format("{} ({})", ranks, own.size()));
      }
      const int64_t end_ns = exchange.end_ns != 0 ? exchange.end_ns : timeline_.end_ns;
      busy_until[static_cast<size_t>(track)] = end_ns;
      add_slice(kRanks, track, operation, "exchange", exchange.begin_ns, end_ns,
                arguments_of(exchange, ranks));
    }
  }

  static Json arguments_of(const Exchange& exchange, const std::string& ranks) {
    Json arguments = {{"ranks", ranks},
                      {"bytes", exchange.bytes},
                      {"status", to_string(exchange.status)},
                      {"thread", exchange.thread}};
    if (exchange.job != 0) arguments["job"] = short_name(exchange.job);
    return arguments;
  }

  static std::pair<const char*, const char*> meaning_of(HookPoint point, uint64_t detail) {
    const bool to_host = detail != 0;
    switch (point) {
      case HookPoint::kBufferMade:
        return {"buffer made", "buffer"};
      case HookPoint::kBufferMapped:
        return {"buffer mapped", "buffer"};
      case HookPoint::kBufferFreed:
        return {"buffer freed", "buffer"};
      case HookPoint::kBufferSynced:
        return {to_host ? "sync to host" : "sync to device", "sync"};
      case HookPoint::kSyncMissing:
        return {to_host ? "missing sync to host" : "missing sync to device", "missing_sync"};
      case HookPoint::kInjected:
        return {"injected fault", "fault"};
      case HookPoint::kRefused:
        return {"job refused", "refused"};
      default:
        return {"event", "event"};
    }
  }

  static Json arguments_of(const Event& mark) {
    switch (mark.point) {
      case HookPoint::kInjected: {
        Json arguments = {{"number", number_in(mark.detail)}};
        if (const NameId kind = name_in(mark.detail); kind != 0)
          arguments["kind"] = name_with(kind);
        if (mark.subject != 0) arguments["job"] = short_name(mark.subject);
        return arguments;
      }
      case HookPoint::kRefused:
        return {{"status", to_string(static_cast<StatusCode>(mark.detail))}};
      case HookPoint::kBufferSynced:
      case HookPoint::kSyncMissing:
        return {{"address", hexadecimal(mark.subject)}};
      default:
        return {{"address", hexadecimal(mark.subject)}, {"bytes", mark.detail}};
    }
  }

  const Timeline& timeline_;
  const TextSink& sink_;
  std::string text_;  // what the sink has not received yet
  Status failure_;    // of the sink
  bool first_ = true;
  uint64_t arrows_ = 0;
  std::set<ThreadId> named_threads_;
  std::set<uint16_t> named_units_;
};

}  // namespace

Status write_chrome_trace(const Timeline& timeline, const TextSink& sink) {
  const DefaultFloatEnvironment floats;
  return Writer(timeline, sink).write();
}

std::string chrome_trace(const Timeline& timeline) {
  std::string text;
  static_cast<void>(write_chrome_trace(timeline, [&](std::string_view piece) {
    text += piece;
    return Status();
  }));
  return text;
}

}  // namespace millrace::timeline
