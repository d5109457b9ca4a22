// Draws simulated runs as an SVG file. Thread-safe.
#pragma once

#include <string>

#include "cli/simulate/simulation_report.h"

namespace millrace::cli {

// Returns an SVG file with two panels over the load: the median and the 99th percentile of the
// latency, and the share of the time for which lanes were busy. Loads are the rates of arrivals if
// all runs have one; otherwise they are at equal distances, in the order of the report.
// Requirement: the report has a run in which a job ended.
std::string load_plot(const SimulationReport& report);

}  // namespace millrace::cli
