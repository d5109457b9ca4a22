// print_targets(): prints the performance targets of the queue, and whether this run met them.
#pragma once

namespace millrace::bench {

class MedianReporter;

// Prints the measured value, the target, and PASS or MISS. Omits benchmarks that did not run.
void print_targets(const MedianReporter& report);

}  // namespace millrace::bench
