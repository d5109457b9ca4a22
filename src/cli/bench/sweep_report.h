// The report of several runs that differ in their load: a sweep of `millrace bench`, or a search
// for a rate. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/bench_report.h"
#include "cli/bench/measurement.h"
#include "cli/bench/percentiles.h"

namespace millrace::cli {

// The figures of one run.
struct SweepRun {
  Scenario scenario = Scenario::kOffline;
  uint32_t in_flight = 1;
  double per_second = 0;  // the mean rate of arrivals; 0 for scenarios other than server
  uint64_t jobs = 0;
  uint64_t queries = 0;  // each has a latency
  double seconds = 0;
  double frames_per_second = 0;
  double busy_cores = 0;
  Distribution latency_ms;
  std::optional<bool> holds;  // whether the run meets the condition of a search
};

SweepRun sweep_run(const BenchSubject& subject, uint32_t in_flight, const Measurement& measured);

struct SweepReport {
  BenchSubject subject;  // its number of jobs in flight is the greatest
  Scenario scenario = Scenario::kOffline;
  std::vector<SweepRun> runs;  // in the order of measurement
  // With fewer queries, the rarest percentile that is of interest is the greatest latency.
  uint32_t least_queries = 100;
  std::string condition;               // of a search: as the user wrote it; empty for a sweep
  double capacity = 0;                 // of a search: jobs per second offline; 0: not measured
  std::optional<double> highest_rate;  // of a search: nothing if the condition held at no rate
};

// The report as text: the subject, and a table with a line for each run.
std::string report_text(const SweepReport& report);
// The report as one line of JSON, without its newline.
std::string report_json(const SweepReport& report);
// The runs as comma-separated values, with a line of names first.
std::string sweep_csv(const SweepReport& report);

}  // namespace millrace::cli
