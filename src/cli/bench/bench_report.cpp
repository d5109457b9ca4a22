// Text and JSON are made from the measurements independently, one function per line or object.
#include "cli/bench/bench_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/bench/percentiles.h"
#include "cli/bench/report_parts.h"
#include "cli/report/json_text.h"
#include "cli/report/numbers.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

double jobs_of(const Measurement& measured) {
  return static_cast<double>(measured.jobs);
}

std::string scenario_line(const BenchSubject& subject, const Measurement& measured) {
  std::string load;
  if (measured.server)
    load = fmt::format("Poisson arrivals, {} per second, seed {}, at most ",
                       measured.server->per_second, measured.server->seed);
  return fmt::format("scenario    {}: {}{} in flight\n", name_of(measured.scenario), load,
                     subject.in_flight);
}

std::string latency_line(const Measurement& measured) {
  const Distribution times = distribution_of(measured.latencies_ms());
  return fmt::format(
      "latency     median {}, p90 {}, p95 {}, p99 {}, p99.9 {}, min {}, max {}\n"
      "            mean {}, spread {} ({} runs)\n",
      ms_text(times.median), ms_text(times.p90), ms_text(times.p95), ms_text(times.p99),
      ms_text(times.p99_9), ms_text(times.min), ms_text(times.max), ms_text(times.mean),
      ms_text(times.spread), measured.queries.size());
}

std::string ideal_line(const Measurement& measured) {
  return ideal_text(*measured.server, distribution_of(measured.latencies_ms()).p99,
                    "the measured services");
}

std::string processor_line(const Measurement& measured) {
  return fmt::format("processor   {:.2f} cores busy, {} of their time per job\n",
                     measured.processor_seconds / measured.seconds,
                     time_text(measured.processor_seconds * 1e9 / jobs_of(measured)));
}

std::string memory_line(const Measurement& measured,
                        const std::optional<Allocations>& allocations) {
  const std::string counted =
      allocations
          ? fmt::format("{:.4g} allocations per job by Millrace, {:.4g} by other libraries; ",
                        allocations->ours(), allocations->others())
          : std::string();
  return fmt::format("memory      {}{:.0f} bytes copied per job\n", counted,
                     static_cast<double>(measured.bytes_copied) / jobs_of(measured));
}

Json latency_json(const Measurement& measured) {
  return distribution_json(distribution_of(measured.latencies_ms()));
}

Json allocations_json(const Allocations& allocations) {
  return {{"millrace", allocations.ours()}, {"others", allocations.others()}};
}

}  // namespace

double frames_per_second(const BenchSubject& subject, const Measurement& measured) {
  return jobs_of(measured) * subject.batch / measured.seconds;
}

std::string queries_csv(const Measurement& measured) {
  std::string text = "issued_ns,latency_ns\n";
  for (const Query& query : measured.queries)
    text += fmt::format("{},{}\n", query.issued_ns, query.latency_ns);
  return text;
}

std::string report_text(const ScenarioReport& report) {
  const Measurement& measured = report.measured;
  return subject_text(report.subject) + scenario_line(report.subject, measured) +
         latency_line(measured) +
         fmt::format("throughput  {} frames/s, {} jobs in {:.2f} s\n",
                     rate_text(frames_per_second(report.subject, measured)), measured.jobs,
                     measured.seconds) +
         (measured.server ? ideal_line(measured) : std::string()) + processor_line(measured) +
         memory_line(measured, report.allocations);
}

std::string report_text(const OverviewReport& report) {
  return subject_text(report.subject) + latency_line(report.single_stream) +
         fmt::format("throughput  {} frames/s with {} jobs in flight\n",
                     rate_text(frames_per_second(report.subject, report.offline)),
                     report.subject.in_flight);
}

std::string report_json(const ScenarioReport& report) {
  const Measurement& measured = report.measured;
  Json json = subject_json(report.subject);
  json["scenario"] = name_of(measured.scenario);
  json["in_flight"] = report.subject.in_flight;
  json["jobs"] = measured.jobs;
  json["seconds"] = measured.seconds;
  json["latency_ms"] = latency_json(measured);
  json["frames_per_second"] = frames_per_second(report.subject, measured);
  if (measured.server) json["server"] = server_json(*measured.server);
  json["busy_cores"] = measured.processor_seconds / measured.seconds;
  json["processor_ms_per_job"] = measured.processor_seconds * 1e3 / jobs_of(measured);
  if (report.allocations) json["allocations_per_job"] = allocations_json(*report.allocations);
  json["bytes_copied_per_job"] = static_cast<double>(measured.bytes_copied) / jobs_of(measured);
  return json_line(json);
}

std::string report_json(const OverviewReport& report) {
  Json json = subject_json(report.subject);
  json["latency_ms"] = latency_json(report.single_stream);
  json["frames_per_second"] = frames_per_second(report.subject, report.offline);
  json["in_flight"] = report.subject.in_flight;
  return json_line(json);
}

}  // namespace millrace::cli
