// The performance of a run, as a table.
#pragma once

#include <array>
#include <optional>

#include "pipeline.hpp"

// Milliseconds that each stage takes for all frames of the run while no other stage works; output
// has none.
using AloneTimes = std::array<double, kOutput>;

// Prints, of each stage, how long it was busy per frame and how many frames it takes per second;
// then the throughput of the pipeline, and its share of that of the slowest stage: alone, where
// that was measured, else in the same run. A stage that did nothing has no frames per second, and a
// run in which all frames failed no throughput. The run has frames.
void print_performance(const RunReport& report, const std::optional<AloneTimes>& alone);
