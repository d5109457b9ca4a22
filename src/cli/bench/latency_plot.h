// Draws the latencies of a run as an SVG file. Thread-safe.
#pragma once

#include <string>

#include "cli/bench/measurement.h"

namespace millrace::cli {

// Returns an SVG file with `title` above two panels. The first shows the latency by percentile, on
// an axis where 0 %, 90 %, 99 % and so on are equally spaced. The second shows the latency by time
// of issue, where each of several hundred columns reaches from the least to the greatest latency of
// its queries. The size of the file does not depend on the number of queries. Requirement: there is
// at least one query.
std::string latency_plot(const std::string& title, const Measurement& measured);

}  // namespace millrace::cli
