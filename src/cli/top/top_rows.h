// `millrace top` shows what has changed between two descriptions of each process. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/reader.h"

namespace millrace::cli {

struct UnitRow {
  live::ShownUnit unit;                   // its numbers since it was made
  std::optional<double> jobs_per_second;  // unknown at the first sight of a unit
  // How long jobs run, without their time in the queue, as far as they were measured.
  std::optional<double> mean_ns, p99_ns;
};

struct ProcessRows {
  live::ShownProcess process;  // without its units
  std::vector<UnitRow> units;
};

// Returns what happened between the two descriptions of each process. Processes that were not there
// before have no rates.
std::vector<ProcessRows> rows_of(const std::vector<live::ShownProcess>& before,
                                 std::vector<live::ShownProcess> now);

}  // namespace millrace::cli
