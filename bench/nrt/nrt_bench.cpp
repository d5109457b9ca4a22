// Measures the NRT face: the time of calls, and the gain of overlapping transfers with execution.
//
//   nrt_bench [calls|loops] [--benchmark_...]     both by default
//
// The calls run on the null device. The loops write, execute and read; a write and a read each take
// a third of the time of an execution. They run once with delays that the faulty device injects,
// and once with large tensors and a model that computes. A COMPUTE unit runs one request at a time,
// so execution uses one core.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string_view>

#include "bench/median.h"
#include "bench/nrt/calls.h"
#include "bench/nrt/pipeline.h"

namespace millrace::bench {
namespace {

constexpr int kRounds = 5;

void report_loops(const char* title, const Face& face, int items) {
  const Slots slots = make_slots(face, 8);
  run_one_in_flight(face, *slots[0], 2);  // warms up: creates contexts and units
  const StageTimes stages = measure_stages(face, *slots[0]);
  fmt::print("\n{}: write {:.2f} ms, execute {:.2f} ms, read {:.2f} ms\n", title, stages.write,
             stages.execute, stages.read);
  for (const int depth : {1, 2, 3, 8}) {
    const Slots some = make_slots(face, depth);
    std::vector<double> ratios, utilisation;
    for (int round = 0; round < kRounds; ++round) {
      const double one_in_flight = run_one_in_flight(face, *some[0], items);
      const double overlapped = run_overlapped(face, some, items);
      ratios.push_back(one_in_flight / overlapped);
      utilisation.push_back(items * stages.execute / overlapped);
    }
    fmt::print("  {} in flight: {:.2f} times as fast as one in flight{}, COMPUTE busy {:.0f} %\n",
               depth, median(ratios), depth == 3 ? " (target 1.45)" : "",
               std::min(1.0, median(utilisation)) * 100);
  }
}

void report_injected_delays() {
  const Face face({{"MILLRACE_DEVICE", "null"},
                   {"MILLRACE_FAULTS", "slow=9ms"},
                   {"MILLRACE_TRANSFER_FAULTS", "slow=3ms"}},
                  tanh_model(16, 1));
  report_loops("injected delays", face, 30);
}

// Returns the number of operations that take three times as long as a transfer.
int balanced_operations(uint32_t elements) {
  constexpr int kSample = 4;
  const Face face({}, tanh_model(elements, kSample));
  Slot slot(face);
  run_one_in_flight(face, slot, 2);
  const StageTimes stages = measure_stages(face, slot);
  const double transfer = (stages.write + stages.read) / 2;
  return std::max(1, static_cast<int>(std::lround(3 * transfer * kSample / stages.execute)));
}

void report_real_work() {
  constexpr uint32_t kElements = 8 << 20;
  const int operations = balanced_operations(kElements);
  const Face face({}, tanh_model(kElements, operations));
  report_loops(fmt::format("{} Tanh over {} MiB", operations, kElements * 4 >> 20).c_str(), face,
               12);
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  try {
    millrace::bench::register_calls();
    benchmark::Initialize(&argc, argv);
    const std::string_view part = argc > 1 ? argv[1] : "";
    if (part != "loops") benchmark::RunSpecifiedBenchmarks();
    if (part == "calls") return 0;
    millrace::bench::report_injected_delays();
    millrace::bench::report_real_work();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nrt_bench: {}\n", error.what());
    return 1;
  }
}
