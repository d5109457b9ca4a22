// The families of benchmarks of queue_bench. Each function registers one with Google Benchmark.
#pragma once

namespace millrace::bench {

void register_submit_cost();
void register_round_trips();
void register_throughput();
void register_wakes();
void register_executes();

}  // namespace millrace::bench
