// The latencies of a run as a drawing. Thread-safe.
#pragma once

#include <string>

#include "cli/bench/measurement.h"

namespace millrace::cli {

// An SVG file with two panels: the latency by percentile, with each further 9 taking as much room
// as the one before it, and the latency over the time of issue, where each of several hundred
// columns goes from the least to the largest of its queries. `title` stands above them. Its size
// does not depend on how many queries there are. Requirement: there is at least one.
std::string latency_plot(const std::string& title, const Measurement& measured);

}  // namespace millrace::cli
