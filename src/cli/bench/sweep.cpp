#include "cli/bench/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/bench/rate_search.h"
#include "cli/name_value.h"

namespace millrace::cli {
namespace {

constexpr std::string_view kInFlightPrefix = "in-flight=";
constexpr std::string_view kRatePrefix = "qps=";
constexpr uint32_t kMostInFlight = 1024;
constexpr double kLeastRate = 0.001, kMostRate = 1e9;

bool is_ended(const Workload& workload) {
  return workload.ended != nullptr && *workload.ended;
}

// Returns a copy of the workload whose number of jobs in flight is at most `count`.
Workload with_slots(const Workload& workload, uint32_t count) {
  return {.session = workload.session,
          .slots = workload.slots.first(count),
          .warmup = workload.warmup,
          .jobs = workload.jobs,
          .duration = workload.duration,
          .ended = workload.ended};
}

// Measures once and adds the run to the report.
Status add_run(Scenario scenario, const Workload& workload, const ServerLoad& load,
               SweepReport* report) {
  MILLRACE_ASSIGN_OR_RETURN(const Measurement measured, measure(scenario, workload, load));
  report->runs.push_back(
      sweep_run(report->subject, static_cast<uint32_t>(workload.slots.size()), measured));
  return {};
}

// Notes whether the last run meets the condition, and returns that. One that the user has ended
// says nothing.
bool last_run_holds(const LatencyCondition& condition, const Workload& workload,
                    SweepReport* report) {
  SweepRun& run = report->runs.back();
  if (!is_ended(workload)) run.holds = condition.holds(run.latency_ms);
  return run.holds.value_or(false);
}

}  // namespace

Result<Sweep> parse_sweep(const std::string& text) {
  Sweep sweep;
  const std::string_view all = text;
  if (all.starts_with(kInFlightPrefix))
    sweep.in_flight = parse_numbers<uint32_t>(all.substr(kInFlightPrefix.size()), 1);
  if (all.starts_with(kRatePrefix))
    sweep.per_second = parse_numbers<double>(all.substr(kRatePrefix.size()), kLeastRate);
  for (const uint32_t count : sweep.in_flight)
    if (count > kMostInFlight)
      return invalid_argument(
          fmt::format("--sweep: {} is more than {} jobs in flight", count, kMostInFlight));
  for (const double rate : sweep.per_second)
    if (!(rate <= kMostRate))
      return invalid_argument(fmt::format("--sweep: {} is no rate of arrivals", rate));
  if (!sweep.in_flight.empty() || !sweep.per_second.empty()) return sweep;
  return invalid_argument(
      fmt::format("--sweep {}: write it like in-flight=1,2,4 or qps=50,100,200", text));
}

Status run_sweep(const Sweep& sweep, const ServerLoad& load, const Workload& workload,
                 SweepReport* report) {
  for (const uint32_t count : sweep.in_flight) {
    MILLRACE_RETURN_IF_ERROR(add_run(report->scenario, with_slots(workload, count), load, report));
    if (is_ended(workload)) return {};
  }
  for (const double rate : sweep.per_second) {
    MILLRACE_RETURN_IF_ERROR(
        add_run(report->scenario, workload, {.per_second = rate, .seed = load.seed}, report));
    if (is_ended(workload)) return {};
  }
  return {};
}

Status find_rate(const LatencyCondition& condition, uint64_t seed, const Workload& workload,
                 SweepReport* report) {
  report->least_queries = std::max(report->least_queries, condition.least_queries);
  MILLRACE_RETURN_IF_ERROR(add_run(Scenario::kSingleStream, with_slots(workload, 1), {}, report));
  if (!last_run_holds(condition, workload, report)) return {};
  MILLRACE_RETURN_IF_ERROR(add_run(Scenario::kOffline, workload, {}, report));
  if (is_ended(workload)) return {};
  const SweepRun& full = report->runs.back();
  report->capacity = static_cast<double>(full.jobs) / full.seconds;
  RateSearch search(report->capacity);
  for (auto rate = search.next(); rate && !is_ended(workload); rate = search.next()) {
    MILLRACE_RETURN_IF_ERROR(
        add_run(Scenario::kServer, workload, {.per_second = *rate, .seed = seed}, report));
    const bool holds = last_run_holds(condition, workload, report);
    if (!is_ended(workload)) search.note(*rate, holds);
  }
  report->highest_rate = search.found();
  return {};
}

}  // namespace millrace::cli
