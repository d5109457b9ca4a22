// Measures the time of a submit while the worker is awake. Submits in bursts that fit the queue,
// and lets the worker catch up between them, so that only accepted submits are timed.
#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "bench/queue/asio_queue.h"
#include "bench/queue/benchmarks.h"
#include "bench/queue/condvar_queue.h"
#include "bench/queue/millrace_queue.h"
#include "bench/queue/placement.h"

namespace millrace::bench {
namespace {

constexpr uint32_t kBurst = 128;
constexpr uint32_t kBatch = 32;

// `submit_burst` submits kBurst jobs and returns the id of the last.
template <class Queue, class SubmitBurst>
void submit_cost(benchmark::State& state, SubmitBurst&& submit_burst) {
  Placement placement;
  const auto queue = placement.make<Queue>(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    const int64_t begin = now_ns();
    const uint64_t last = submit_burst(*queue);
    const int64_t taken = now_ns() - begin;
    queue->wait(last);
    state.SetIterationTime(static_cast<double>(taken) * 1e-9 / kBurst);
  }
}

template <class Queue>
void submit_one_by_one(benchmark::State& state) {
  submit_cost<Queue>(state, [](Queue& queue) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < kBurst; ++i) last = queue.submit();
    return last;
  });
}

void submit_in_batches(benchmark::State& state) {
  submit_cost<MillraceQueue>(state, [](MillraceQueue& queue) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < kBurst; i += kBatch) {
      const Result<queue::SubmittedRange> range =
          queue.unit().try_submit_n(kBatch, [](queue::Task&, uint32_t) {});
      last = range->first + range->count - 1;
    }
    return last;
  });
}

void add(const char* name, void (*function)(benchmark::State&), int64_t depth) {
  // The number of iterations is fixed: the time of an iteration is set to that of one submit, so
  // reaching Google Benchmark's minimum time would take very long.
  benchmark::RegisterBenchmark(name, function)
      ->ArgName("depth")
      ->Arg(depth)
      ->UseManualTime()
      ->Iterations(5000);
}

}  // namespace

void register_submit_cost() {
  for (const int64_t depth : {128, 4096, 65'536})
    add("submit/millrace", submit_one_by_one<MillraceQueue>, depth);
  add("submit/millrace/batch_of_32", submit_in_batches, kBurst);
  add("submit/condvar", submit_one_by_one<CondvarQueue>, kBurst);
  add("submit/asio", submit_one_by_one<AsioQueue>, kBurst);
}

}  // namespace millrace::bench
