// The report of simulated runs that differ in their load. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench/percentiles.h"
#include "cli/simulate/simulation.h"

namespace millrace::cli {

struct SimulatedLine {
  SimulatedLoad load;
  uint64_t completed = 0, refused = 0, dropped = 0;
  double per_second = 0;   // jobs that ended
  double utilisation = 0;  // of the lanes, 0 to 1
  uint32_t most_waiting = 0;
  std::optional<Distribution> latency_ms;  // nothing if no job ran
};

SimulatedLine line_of(const SimulatedLoad& load, SimulatedRun run);

struct SimulationReport {
  std::string model, device;  // of the profile; the device may be empty
  SimulatedSystem system;
  std::vector<SimulatedLine> lines;  // in the order of the command line
};

// Returns the load as text: "120.0/s" or "4 in flight".
std::string load_text(const SimulatedLoad& load);
std::string report_text(const SimulationReport& report);
// One line of JSON, without its newline.
std::string report_json(const SimulationReport& report);

}  // namespace millrace::cli
