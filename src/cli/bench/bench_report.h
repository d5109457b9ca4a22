// The reports of `millrace bench`, human-readable and as JSON. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/bench/measurement.h"

namespace millrace::cli {

// What was measured, and on what.
struct BenchSubject {
  std::string model, precision, view, device;
  std::string note;  // why the precision is another than the archive's; empty: it is not
  uint32_t batch = 1, lanes = 1, in_flight = 1;
  double load_ms = 0;
};

// A scenario that was asked for.
struct ScenarioReport {
  BenchSubject subject;
  Measurement measured;
  std::optional<Allocations> allocations;  // none where they cannot be counted
};

// What is measured where no scenario was asked for.
struct OverviewReport {
  BenchSubject subject;
  Measurement single_stream, offline;
};

double frames_per_second(const BenchSubject& subject, const Measurement& measured);

// Lines, each with its end.
std::string report_text(const ScenarioReport& report);
std::string report_text(const OverviewReport& report);
// One line without its end; times are in milliseconds unless their names say otherwise.
std::string report_json(const ScenarioReport& report);
std::string report_json(const OverviewReport& report);

}  // namespace millrace::cli
