// The reports of `millrace bench`, as human-readable text and as JSON. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/bench/measurement.h"

namespace millrace::cli {

// Describes the measured model and the configuration that it was measured in.
struct BenchSubject {
  std::string model, precision, view, device;
  std::string note;  // why the precision differs from the archive's; empty if it does not
  uint32_t batch = 1, lanes = 1, in_flight = 1;
  double load_ms = 0;
  std::string version, processor;  // of Millrace, and of the machine
  uint64_t peak_memory_bytes = 0;  // of the process, so far
  bool interrupted = false;        // the user has ended the run: the figures are those until then
};

// The report of a scenario that the user asked for.
struct ScenarioReport {
  BenchSubject subject;
  Measurement measured;
  std::optional<Allocations> allocations;  // empty if they cannot be counted
};

// The report of a run without --scenario.
struct OverviewReport {
  BenchSubject subject;
  Measurement single_stream, offline;
};

// Returns the throughput, counting batch_size frames for each job.
double frames_per_second(const BenchSubject& subject, const Measurement& measured);

// Returns the queries as comma-separated values: when each was issued, and its latency.
std::string queries_csv(const Measurement& measured);

// The report as text of several lines, each with its newline.
std::string report_text(const ScenarioReport& report);
std::string report_text(const OverviewReport& report);
// The report as one line, without its newline. Times are in ms unless their names say otherwise.
std::string report_json(const ScenarioReport& report);
std::string report_json(const OverviewReport& report);

}  // namespace millrace::cli
