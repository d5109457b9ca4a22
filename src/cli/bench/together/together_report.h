// The report of several models that run at the same time. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/bench_report.h"
#include "cli/bench/sweep_report.h"

namespace millrace::cli {

struct ModelRun {
  BenchSubject subject;
  uint32_t priority = 0;
  SweepRun run;  // its busy cores are those of the process, as for every model
};

struct TogetherReport {
  std::vector<ModelRun> models;  // at least one; the last has the figures of the whole process
  double seconds = 0;            // from the first job of any model to the end of the last one
  double busy_cores = 0;

  uint64_t jobs() const;
  double frames_per_second() const;
};

// A table with a line for each model, and one with the sum.
std::string report_text(const TogetherReport& report);
std::string report_json(const TogetherReport& report);
// A line for each model.
std::string together_csv(const TogetherReport& report);

}  // namespace millrace::cli
