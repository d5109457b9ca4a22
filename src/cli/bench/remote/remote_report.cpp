#include "cli/bench/remote/remote_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/bench/percentiles.h"
#include "cli/bench/report_parts.h"
#include "cli/report/json_text.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns the figures of the requests that were served; nothing if there is none.
std::optional<Distribution> latencies(const RemoteRun& run) {
  if (run.served.empty()) return std::nullopt;
  std::vector<double> times;
  for (const Query& query : run.served)
    times.push_back(static_cast<double>(query.latency_ns) * 1e-6);
  return distribution_of(std::move(times));
}

double served_per_second(const RemoteRun& run) {
  return static_cast<double>(run.served.size()) / run.seconds;
}

std::string scenario_line(const RemoteLoad& load) {
  std::string arrivals;
  if (load.scenario == Scenario::kServer)
    arrivals = fmt::format("Poisson arrivals, {} per second, seed {}, at most ", load.per_second,
                           load.seed);
  return fmt::format("scenario    {}: {}{} in flight\n", name_of(load.scenario), arrivals,
                     load.connections);
}

std::string latency_line(const RemoteRun& run) {
  const auto times = latencies(run);
  if (!times) return "latency     no request was served\n";
  return fmt::format(
      "latency     median {}, p90 {}, p95 {}, p99 {}, p99.9 {}, min {}, max {}\n"
      "            mean {}, spread {} ({} served)\n",
      ms_text(times->median), ms_text(times->p90), ms_text(times->p95), ms_text(times->p99),
      ms_text(times->p99_9), ms_text(times->min), ms_text(times->max), ms_text(times->mean),
      ms_text(times->spread), run.served.size());
}

std::string ideal_line(const RemoteReport& report) {
  if (report.load.scenario != Scenario::kServer) return {};
  const auto times = latencies(report.run);
  if (report.run.ideal && times)
    return ideal_text(*report.run.ideal, times->p99, "the times of requests sent alone");
  return report.load.servers > 0
             ? std::string()
             : "ideal queue unknown: --lanes says how many requests the server runs at once\n";
}

std::string refusals_line(const RemoteRun& run) {
  if (run.refusal_ms.empty()) return {};
  const Distribution times = distribution_of(run.refusal_ms);
  return fmt::format("refusals    median {}, p99 {}, max {}, from when they were sent\n",
                     ms_text(times.median), ms_text(times.p99), ms_text(times.max));
}

std::string requests_line(const RemoteReport& report) {
  const RemoteRun& run = report.run;
  const std::string again =
      report.load.retries > 0 ? fmt::format("; sent again {} times", run.retried) : "";
  return fmt::format("requests    {}: {} served, {} refused, {} late, {} failed{}\n",
                     run.requests(), run.served.size(), run.refused, run.late, run.failed, again);
}

Json server_of(const RemoteReport& report) {
  if (report.run.ideal) return server_json(*report.run.ideal);
  return {{"queries_per_second", report.load.per_second}, {"seed", report.load.seed}};
}

}  // namespace

std::string report_text(const RemoteReport& report) {
  const RemoteRun& run = report.run;
  std::string text = fmt::format("server      {}, model {}\n", report.url, report.model);
  text += scenario_line(report.load) + latency_line(run);
  text += fmt::format("throughput  {} served per second, in {:.2f} s\n",
                      rate_text(served_per_second(run)), run.seconds);
  text += ideal_line(report) + requests_line(report) + refusals_line(run);
  if (run.failed > 0) text += fmt::format("failure     {}\n", run.first_failure);
  return text;
}

std::string report_json(const RemoteReport& report) {
  const RemoteRun& run = report.run;
  Json json = {{"url", report.url},
               {"model", report.model},
               {"version", report.version},
               {"scenario", name_of(report.load.scenario)},
               {"in_flight", report.load.connections},
               {"jobs", run.requests()},
               {"served", run.served.size()},
               {"refused", run.refused},
               {"late", run.late},
               {"failed", run.failed},
               {"seconds", run.seconds},
               {"served_per_second", served_per_second(run)}};
  if (const auto times = latencies(run)) json["latency_ms"] = distribution_json(*times);
  if (report.load.scenario == Scenario::kServer) json["server"] = server_of(report);
  if (!run.refusal_ms.empty())
    json["refusal_ms"] = distribution_json(distribution_of(run.refusal_ms));
  if (report.load.retries > 0) json["retried"] = run.retried;
  if (run.failed > 0) json["first_failure"] = run.first_failure;
  return json_line(json);
}

}  // namespace millrace::cli
