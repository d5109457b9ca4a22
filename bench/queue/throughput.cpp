// Measures jobs per second with 1, 2 or 4 producers, which retry while the queue is full. The
// measuring thread is one of them, and then polls for the end. Threads are not pinned.
#include <benchmark/benchmark.h>

#include <thread>
#include <vector>

#include "bench/queue/asio_queue.h"
#include "bench/queue/benchmarks.h"
#include "bench/queue/condvar_queue.h"
#include "bench/queue/millrace_queue.h"
#include "queue/waiting/spin.h"

namespace millrace::bench {
namespace {

// Spins until `ready()` returns true, and yields regularly, since there may be more producers than
// cores.
template <class Ready>
void retry_until(Ready&& ready) {
  for (uint64_t tries = 1; !ready(); ++tries) {
    queue::cpu_relax();
    if (tries % 64 == 0) std::this_thread::yield();
  }
}

template <class Queue>
void throughput(benchmark::State& state) {
  const auto producers = static_cast<uint64_t>(state.range(0));
  const auto depth = static_cast<uint32_t>(state.range(1));
  // There are fewer jobs at depth 1, where queues that sleep need tens of microseconds for each.
  const uint64_t jobs = depth == 1 ? 4'000 : 100'000;
  Queue queue(depth);
  const auto produce = [&] {
    for (uint64_t i = 0; i < jobs / producers; ++i)
      retry_until([&] { return queue.submit() != 0; });
  };
  uint64_t expected = 0;
  for (auto _ : state) {
    std::vector<std::thread> others;
    for (uint64_t i = 1; i < producers; ++i) others.emplace_back(produce);
    produce();
    for (std::thread& other : others) other.join();
    expected += jobs;
    retry_until([&] { return queue.completed() >= expected; });
  }
  state.SetItemsProcessed(static_cast<int64_t>(expected));
}

}  // namespace

void register_throughput() {
  const std::vector<std::vector<int64_t>> cases{{1, 2, 4}, {1, 16, 256, 1024}};
  for (auto* added : {benchmark::RegisterBenchmark("jobs/millrace", throughput<MillraceQueue>),
                      benchmark::RegisterBenchmark("jobs/condvar", throughput<CondvarQueue>),
                      benchmark::RegisterBenchmark("jobs/asio", throughput<AsioQueue>)})
    added->ArgNames({"producers", "depth"})->ArgsProduct(cases)->UseRealTime();
}

}  // namespace millrace::bench
