#include "cli/trace/trace_summary.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cli/report/numbers.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::json;

// Goes through the events in any order.
struct Reader {
  TraceSummary summary;
  double first_failed_us = std::numeric_limits<double>::infinity();

  void add_failed(const Json& arguments, double ended_us) {
    ++summary.failed;
    if (ended_us >= first_failed_us) return;
    first_failed_us = ended_us;
    summary.first_failed = arguments.at("job");
    summary.first_status = arguments.at("status");
  }
  void add_job(const Json& job);
};

void Reader::add_job(const Json& job) {
  ++summary.jobs;
  const Json& arguments = job.at("args");
  const std::string status = arguments.at("status");
  const double duration = job.at("dur");
  if (status != "OK" && status != "PENDING")  // PENDING: it still ran
    add_failed(arguments, job.at("ts").get<double>() + duration);
  if (!summary.longest.empty() && duration <= summary.longest_us) return;
  summary.longest = arguments.at("job");
  summary.longest_us = duration;
}

TraceSummary summarise(const Json& trace) {
  Reader reader;
  TraceSummary& summary = reader.summary;
  summary.dropped = trace.at("otherData").at("dropped_events");
  std::set<std::pair<int64_t, int64_t>> lanes;  // by program and track
  for (const Json& event : trace.at("traceEvents")) {
    const std::string category = event.value("cat", "");
    if (category == "not_run") reader.add_failed(event.at("args"), event.at("ts"));
    if (category == "fault") ++summary.faults;
    if (category != "job") continue;
    reader.add_job(event);
    lanes.emplace(event.at("pid").get<int64_t>(), event.at("tid").get<int64_t>());
  }
  summary.lanes = lanes.size();
  return summary;
}

std::string counted(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Result<TraceSummary> summary_of_trace(std::string_view text) {
  try {
    return summarise(Json::parse(text));
  } catch (const Json::exception& error) {
    return invalid_argument(fmt::format("is not a trace: {}", error.what()));
  }
}

std::string summary_text(const TraceSummary& summary) {
  std::string text =
      fmt::format("{} on {}", counted(summary.jobs, "job"), counted(summary.lanes, "lane"));
  if (!summary.longest.empty())
    text += fmt::format(", the longest {} with {}", summary.longest,
                        time_text(summary.longest_us * 1000));
  if (summary.failed != 0)
    text += fmt::format("; {} failed, first {} with {}", summary.failed, summary.first_failed,
                        summary.first_status);
  if (summary.faults != 0) text += "; " + counted(summary.faults, "injected fault");
  if (summary.dropped != 0)
    text += fmt::format("; {} are missing, MILLRACE_TRACE_EVENTS keeps more",
                        counted(summary.dropped, "event"));
  return text;
}

}  // namespace millrace::cli
