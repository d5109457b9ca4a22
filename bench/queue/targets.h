// The performance targets of the queue, and whether this run met them.
#pragma once

namespace millrace::bench {

class MedianReporter;

// Prints measured value, target and PASS or MISS; leaves out what did not run.
void print_targets(const MedianReporter& report);

}  // namespace millrace::bench
