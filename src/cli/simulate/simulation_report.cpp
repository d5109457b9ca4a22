#include "cli/simulate/simulation_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/bench/report_parts.h"
#include "cli/report/json_text.h"

namespace millrace::cli {
namespace {

using ReportJson = nlohmann::ordered_json;

const char* name_of(OnFull on_full) {
  switch (on_full) {
    case OnFull::kBlock:
      return "block";
    case OnFull::kRefuse:
      return "refuse";
    case OnFull::kDropOldest:
      return "drop-oldest";
  }
  return "";
}

std::string counted(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string head_text(const SimulationReport& report) {
  const SimulatedSystem& system = report.system;
  const double mean_ns = static_cast<double>(system.times->mean().count());
  std::string text =
      fmt::format("model    {}{}, {} on average\n", report.model,
                  report.device.empty() ? "" : " on " + report.device, ms_text(mean_ns / 1e6));
  text += fmt::format("device   {}, {} of depth {}, {} when full", counted(system.lanes, "lane"),
                      counted(system.units, "unit"), system.depth, name_of(system.on_full));
  if (system.ranks > 1) text += fmt::format(", {} in lockstep", counted(system.ranks, "rank"));
  return text + "\n";
}

std::string line_text(const SimulatedLine& line) {
  std::string text =
      fmt::format("{:>12}  {:>9}  {:>7.1f}%  {:>8}  {:>8}  {:>7}", load_text(line.load),
                  rate_text(line.per_second), line.utilisation * 100, line.refused, line.dropped,
                  line.most_waiting);
  if (line.latency_ms)
    text += fmt::format("  {:>9}  {:>9}  {:>9}", ms_text(line.latency_ms->median),
                        ms_text(line.latency_ms->p99), ms_text(line.latency_ms->max));
  return text + "\n";
}

ReportJson line_json(const SimulatedLine& line) {
  ReportJson json = ReportJson::object();
  if (line.load.per_second > 0) {
    json["arrivals"] = line.load.arrivals == Arrivals::kPoisson ? "poisson" : "even";
    json["queries_per_second"] = line.load.per_second;
  } else {
    json["in_flight"] = line.load.in_flight;
  }
  json["completed"] = line.completed;
  json["refused"] = line.refused;
  json["dropped"] = line.dropped;
  json["per_second"] = line.per_second;
  json["utilisation"] = line.utilisation;
  json["most_waiting"] = line.most_waiting;
  if (line.latency_ms) json["latency_ms"] = distribution_json(*line.latency_ms);
  return json;
}

}  // namespace

std::string load_text(const SimulatedLoad& load) {
  if (load.per_second > 0) return rate_text(load.per_second) + "/s";
  return fmt::format("{} in flight", load.in_flight);
}

SimulatedLine line_of(const SimulatedLoad& load, SimulatedRun run) {
  SimulatedLine line{.load = load,
                     .completed = run.latencies_ms.size(),
                     .refused = run.refused,
                     .dropped = run.dropped,
                     .per_second = 0,
                     .utilisation = run.utilisation,
                     .most_waiting = run.most_waiting,
                     .latency_ms = std::nullopt};
  if (run.seconds > 0) line.per_second = static_cast<double>(line.completed) / run.seconds;
  if (line.completed != 0) line.latency_ms = distribution_of(std::move(run.latencies_ms));
  return line;
}

std::string report_text(const SimulationReport& report) {
  std::string text = head_text(report);
  text +=
      "        load     jobs/s  lanes busy   refused   dropped  waiting     median        p99      "
      "  "
      "max\n";
  for (const SimulatedLine& line : report.lines) text += line_text(line);
  return text;
}

std::string report_json(const SimulationReport& report) {
  const SimulatedSystem& system = report.system;
  ReportJson json = {{"model", report.model},
                     {"device", report.device},
                     {"mean_ms", static_cast<double>(system.times->mean().count()) / 1e6},
                     {"lanes", system.lanes},
                     {"units", system.units},
                     {"depth", system.depth},
                     {"when_full", name_of(system.on_full)},
                     {"ranks", system.ranks},
                     {"runs", ReportJson::array()}};
  for (const SimulatedLine& line : report.lines) json["runs"].push_back(line_json(line));
  return json_line(json);
}

}  // namespace millrace::cli
