#include "cli/bench/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/bench/report_parts.h"
#include "cli/report/json_text.h"

namespace millrace::cli {
namespace {

using SweepJson = nlohmann::ordered_json;

std::string table_head(const SweepReport& report) {
  return "scenario       in flight   arrivals      jobs   frames/s     median        p99        max"
         "  cores busy" +
         (report.condition.empty() ? "\n" : fmt::format("  {}\n", report.condition));
}

std::string table_line(const SweepRun& run) {
  std::string line = fmt::format(
      "{:<13}  {:>9}  {:>9}  {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10.2f}", name_of(run.scenario),
      run.in_flight, run.per_second > 0 ? rate_text(run.per_second) : "-", run.jobs,
      rate_text(run.frames_per_second), ms_text(run.latency_ms.median), ms_text(run.latency_ms.p99),
      ms_text(run.latency_ms.max), run.busy_cores);
  if (run.holds) line += *run.holds ? "  yes" : "  no";
  return line + "\n";
}

// Warns of percentiles that are no more than the greatest latency.
std::string few_queries_note(const SweepReport& report) {
  const bool few = std::ranges::any_of(
      report.runs, [&](const SweepRun& run) { return run.queries < report.least_queries; });
  if (!few) return {};
  return fmt::format(
      "note: {} of fewer than {} latencies is the greatest: choose a longer --duration, or -n\n",
      report.least_queries > 100 ? "p99.9" : "p99", report.least_queries);
}

SweepJson run_json(const SweepRun& run) {
  SweepJson json = {{"scenario", name_of(run.scenario)},
                    {"in_flight", run.in_flight},
                    {"jobs", run.jobs},
                    {"seconds", run.seconds},
                    {"frames_per_second", run.frames_per_second},
                    {"busy_cores", run.busy_cores},
                    {"latency_ms", distribution_json(run.latency_ms)}};
  if (run.per_second > 0) json["queries_per_second"] = run.per_second;
  if (run.holds) json["holds"] = *run.holds;
  return json;
}

bool is_rate(const SweepRun& run) {
  return run.scenario == Scenario::kServer;
}

std::string conclusion(const SweepReport& report) {
  if (report.condition.empty()) return {};
  const auto rates = std::ranges::count_if(report.runs, is_rate);
  const std::string found = report.highest_rate
                                ? fmt::format("{} holds at {} arrivals per second",
                                              report.condition, rate_text(*report.highest_rate))
                                : std::string();
  if (report.subject.interrupted)
    return fmt::format("the search was ended after {} run{}{}{}\n", report.runs.size(),
                       report.runs.size() == 1 ? "" : "s", found.empty() ? "" : "; ", found);
  if (rates == 0)
    return fmt::format("{} does not hold even with one job at a time, so it holds at no rate\n",
                       report.condition);
  if (!report.highest_rate)
    return fmt::format("{} holds at none of these rates\n", report.condition);
  if (std::ranges::all_of(report.runs, [](const SweepRun& run) {
        return !is_rate(run) || run.holds.value_or(false);
      }))
    return fmt::format("{} holds at every rate up to the throughput of {} jobs per second\n",
                       report.condition, rate_text(report.capacity));
  return fmt::format("{} holds up to {} arrivals per second\n", report.condition,
                     rate_text(*report.highest_rate));
}

}  // namespace

SweepRun sweep_run(const BenchSubject& subject, uint32_t in_flight, const Measurement& measured) {
  return {.scenario = measured.scenario,
          .in_flight = in_flight,
          .per_second = measured.server ? measured.server->per_second : 0,
          .jobs = measured.jobs,
          .queries = measured.queries.size(),
          .seconds = measured.seconds,
          .frames_per_second = frames_per_second(subject, measured),
          .busy_cores = measured.processor_seconds / measured.seconds,
          .latency_ms = distribution_of(measured.latencies_ms()),
          .holds = std::nullopt};
}

std::string report_text(const SweepReport& report) {
  std::string text = subject_text(report.subject) + table_head(report);
  for (const SweepRun& run : report.runs) text += table_line(run);
  return text + few_queries_note(report) + conclusion(report);
}

std::string report_json(const SweepReport& report) {
  SweepJson json = subject_json(report.subject);
  json["scenario"] = name_of(report.scenario);
  json["runs"] = SweepJson::array();
  for (const SweepRun& run : report.runs) json["runs"].push_back(run_json(run));
  if (!report.condition.empty()) {
    json["condition"] = report.condition;
    if (report.capacity > 0) json["capacity"] = report.capacity;
    // Null would say that no rate holds, which the runs of a search that was ended do not show.
    if (report.highest_rate || !report.subject.interrupted)
      json["highest_rate"] = report.highest_rate ? SweepJson(*report.highest_rate) : nullptr;
  }
  return json_line(json);
}

std::string sweep_csv(const SweepReport& report) {
  std::string text =
      "scenario,in_flight,queries_per_second,jobs,seconds,frames_per_second,busy_cores,min_ms,"
      "median_ms,"
      "p90_ms,p95_ms,p99_ms,p99_9_ms,max_ms,mean_ms,spread_ms,holds\n";
  for (const SweepRun& run : report.runs) {
    const Distribution& times = run.latency_ms;
    text += fmt::format("{},{},{},{},{:.6g},{:.6g},{:.4g},", name_of(run.scenario), run.in_flight,
                        run.per_second > 0 ? fmt::format("{:.6g}", run.per_second) : "", run.jobs,
                        run.seconds, run.frames_per_second, run.busy_cores);
    for (const double time : {times.min, times.median, times.p90, times.p95, times.p99, times.p99_9,
                              times.max, times.mean, times.spread})
      text += fmt::format("{:.6g},", time);
    text += run.holds ? (*run.holds ? "yes\n" : "no\n") : "\n";
  }
  return text;
}

}  // namespace millrace::cli
