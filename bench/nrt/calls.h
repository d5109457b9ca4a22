// Measures the cost of single calls of the NRT face to the thread that makes them.
#pragma once

namespace millrace::bench {

// Registers the benchmarks; each has a runtime of its own on the null device.
void register_calls();

}  // namespace millrace::bench
