#include "cli/bench/sweep_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/bench/report_parts.h"
#include "cli/report/json_text.h"
#include "cli/report/numbers.h"

namespace millrace::cli {
namespace {

using SweepJson = nlohmann::ordered_json;

std::string short_time(double milliseconds) {
  return time_text(milliseconds * 1e6);
}

std::string rate_text(const SweepRun& run) {
  return run.per_second > 0 ? fmt::format("{:.1f}", run.per_second) : "-";
}

std::string table_line(const SweepRun& run) {
  std::string line =
      fmt::format("{:>9}  {:>9}  {:>9.1f}  {:>9}  {:>9}  {:>9}  {:>10.2f}", run.in_flight,
                  rate_text(run), run.frames_per_second, short_time(run.latency_ms.median),
                  short_time(run.latency_ms.p99), short_time(run.latency_ms.max), run.busy_cores);
  if (run.holds) line += *run.holds ? "  yes" : "  no";
  return line + "\n";
}

SweepJson run_json(const SweepRun& run) {
  SweepJson json = {
      {"in_flight", run.in_flight},   {"jobs", run.jobs},
      {"seconds", run.seconds},       {"frames_per_second", run.frames_per_second},
      {"busy_cores", run.busy_cores}, {"latency_ms", distribution_json(run.latency_ms)}};
  if (run.per_second > 0) json["queries_per_second"] = run.per_second;
  if (run.holds) json["holds"] = *run.holds;
  return json;
}

std::string conclusion(const SweepReport& report) {
  if (report.condition.empty()) return {};
  if (!report.highest_rate)
    return fmt::format("{} holds at none of these rates\n", report.condition);
  return fmt::format("{} holds up to {:.1f} arrivals per second\n", report.condition,
                     *report.highest_rate);
}

}  // namespace

SweepRun sweep_run(const BenchSubject& subject, uint32_t in_flight, const Measurement& measured) {
  return {.in_flight = in_flight,
          .per_second = measured.server ? measured.server->per_second : 0,
          .jobs = measured.jobs,
          .seconds = measured.seconds,
          .frames_per_second = frames_per_second(subject, measured),
          .busy_cores = measured.processor_seconds / measured.seconds,
          .latency_ms = distribution_of(measured.latencies_ms()),
          .holds = std::nullopt};
}

std::string report_text(const SweepReport& report) {
  std::string text = subject_text(report.subject) +
                     fmt::format("scenario    {}\n", name_of(report.scenario)) +
                     "in flight   arrivals   frames/s     median        p99        max  cores busy";
  text += report.condition.empty() ? "\n" : fmt::format("  {}\n", report.condition);
  for (const SweepRun& run : report.runs) text += table_line(run);
  return text + conclusion(report);
}

std::string report_json(const SweepReport& report) {
  SweepJson json = subject_json(report.subject);
  json["scenario"] = name_of(report.scenario);
  json["runs"] = SweepJson::array();
  for (const SweepRun& run : report.runs) json["runs"].push_back(run_json(run));
  if (!report.condition.empty()) {
    json["condition"] = report.condition;
    json["highest_rate"] = report.highest_rate ? SweepJson(*report.highest_rate) : nullptr;
  }
  return json_line(json);
}

std::string sweep_csv(const SweepReport& report) {
  std::string text =
      "in_flight,queries_per_second,jobs,seconds,frames_per_second,busy_cores,min_ms,median_ms,"
      "p90_ms,p95_ms,p99_ms,p99_9_ms,max_ms,mean_ms,spread_ms,holds\n";
  for (const SweepRun& run : report.runs) {
    const Distribution& times = run.latency_ms;
    text += fmt::format("{},{},{},{:.6g},{:.6g},{:.4g},", run.in_flight,
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
