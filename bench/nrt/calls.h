// Measures the time of single calls of the NRT face on the calling thread.
#pragma once

namespace millrace::bench {

// Registers the benchmarks; each initialises a runtime of its own on the null device.
void register_calls();

}  // namespace millrace::bench
