// Measures the overhead of the queue, and of peers in the same run: a mutex with condition
// variables, a bare futex, Boost.Asio, io_uring and ONNX Runtime. Each family of benchmarks is one
// source file.
//
//   queue_bench                                     everything, two to three minutes
//   queue_bench --benchmark_filter=round_trip       one family
//   queue_bench --benchmark_out=queue.json          also writes the results as JSON
//
// Repetitions of all benchmarks alternate at random, so that changes of the machine's speed affect
// all alike; medians are reported. It needs two idle cores.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <vector>

#include "base/process/topology.h"
#include "bench/queue/benchmarks.h"
#include "bench/queue/report.h"

int main(int argc, char** argv) {
  // The defaults come before the user's flags, which take precedence: the last of equal flags
  // counts.
  char repetitions[] = "--benchmark_repetitions=5";
  char alternating[] = "--benchmark_enable_random_interleaving=true";
  char minimum[] = "--benchmark_min_time=0.2";
  std::vector<char*> arguments = {argv[0], repetitions, alternating, minimum};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  if (millrace::topology().core_budget < 2)
    fmt::print("This process has one core only, which the two threads of each hand-off share.\n");
  millrace::bench::register_submit_cost();
  millrace::bench::register_round_trips();
  millrace::bench::register_throughput();
  millrace::bench::register_wakes();
  millrace::bench::register_executes();
  millrace::bench::MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}
