// What the queue itself costs: submitting, the round trip to a lane and back, and null jobs per
// second, each beside a queue of a mutex and condition variables in the same run.
//
//   queue_bench --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
//
// Needs two idle cores. After the table of medians come the ratios.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/queue/condvar_queue.h"
#include "queue/spin.h"
#include "queue/unit.h"

namespace millrace::bench {
namespace {

using std::chrono::microseconds;

constexpr microseconds kSpin = queue::LanesOptions().spin;
constexpr std::chrono::nanoseconds kForever = std::chrono::hours(1);

class NullTask final : public queue::Task {
 public:
  Status run(queue::LaneId) noexcept override { return {}; }
  void release() noexcept override {}
};

// One unit on one lane, with the interface of CondvarQueue.
class MillraceQueue {
 public:
  explicit MillraceQueue(uint32_t depth, microseconds spin = kSpin)
      : lanes_({.count = 1, .spin = spin}) {
    queue::UnitOptions options;
    options.depth = depth;
    options.make_task = [] { return std::make_unique<NullTask>(); };
    options.wait_spin = spin;
    unit_ = *queue::Unit::create(lanes_, std::move(options));
  }

  uint64_t submit() {
    const Result<queue::SequenceId> id = unit_->submit([](queue::Task&) {});
    return id.ok() ? *id : 0;
  }
  void wait(uint64_t id) { benchmark::DoNotOptimize(unit_->wait(id, kForever)); }
  uint64_t completed() const { return queue::counter_of(unit_->last_completed()); }

 private:
  queue::Lanes lanes_;
  std::unique_ptr<queue::Unit> unit_;
};

// Submits in bursts that fit the ring and lets the lane catch up between them, so that the time is
// that of accepted submits alone, with the lane awake.
template <class Queue>
void submit_cost(benchmark::State& state) {
  constexpr uint32_t kBurst = 128;
  Queue queue(kBurst);
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    uint64_t last = 0;
    for (uint32_t i = 0; i < kBurst; ++i) last = queue.submit();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    queue.wait(last);
    state.SetIterationTime(taken.count() / kBurst);
  }
}

template <class Queue>
void round_trip(benchmark::State& state, Queue& queue) {
  for (auto _ : state) queue.wait(queue.submit());
}

void round_trip_spinning(benchmark::State& state) {
  MillraceQueue queue(1);
  round_trip(state, queue);
}

// Neither the lane nor the waiter spins: two wake-ups from the kernel per round trip.
void round_trip_parked(benchmark::State& state) {
  MillraceQueue queue(1, microseconds(0));
  round_trip(state, queue);
}

void round_trip_condvar(benchmark::State& state) {
  CondvarQueue queue(1);
  round_trip(state, queue);
}

// Jobs per second from `producers` threads that retry when the queue is full; the measuring thread
// is the first of them and polls for the end.
template <class Queue>
void throughput(benchmark::State& state) {
  const auto producers = static_cast<uint64_t>(state.range(0));
  constexpr uint64_t kJobs = 100'000;
  Queue queue(static_cast<uint32_t>(state.range(1)));
  const auto produce = [&] {
    for (uint64_t i = 0; i < kJobs / producers; ++i)
      for (uint64_t tries = 0; queue.submit() == 0; ++tries) {
        queue::cpu_relax();
        if (tries % 64 == 63) std::this_thread::yield();
      }
  };
  uint64_t expected = 0;
  for (auto _ : state) {
    std::vector<std::thread> others;
    for (uint64_t i = 1; i < producers; ++i) others.emplace_back(produce);
    produce();
    for (std::thread& other : others) other.join();
    expected += kJobs;
    while (queue.completed() < expected) queue::cpu_relax();
  }
  state.SetItemsProcessed(static_cast<int64_t>(expected));
}

// The usual table; keeps the median times, or those of single runs, for the ratios.
class RatioReporter final : public benchmark::ConsoleReporter {
 public:
  using ConsoleReporter::ConsoleReporter;

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration || run.aggregate_name == "median")
        times_[run.run_name.str()] = run.GetAdjustedRealTime();
  }

  void print_ratios() const {
    fmt::print("\ncondition-variable queue over millrace (times slower):\n");
    for (const auto& [name, time] : times_) {
      const size_t mark = name.find("millrace");
      if (mark == std::string::npos) continue;
      std::string other = name;
      other.replace(mark, std::string("millrace").size(), "condvar");
      // Both round trips stand beside the one that a condition variable has.
      auto found = times_.find(other);
      if (found == times_.end()) found = times_.find("round_trip/condvar");
      if (found != times_.end()) fmt::print("  {:<40} {:6.2f}\n", name, found->second / time);
    }
  }

 private:
  std::map<std::string, double> times_;
};

void register_throughput() {
  const std::vector<std::vector<int64_t>> cases{{1, 2, 4}, {1, 16, 256}};
  for (auto* added : {benchmark::RegisterBenchmark("jobs/millrace", throughput<MillraceQueue>),
                      benchmark::RegisterBenchmark("jobs/condvar", throughput<CondvarQueue>)})
    added->ArgNames({"producers", "depth"})
        ->ArgsProduct(cases)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

void register_all() {
  benchmark::RegisterBenchmark("submit/millrace", submit_cost<MillraceQueue>)
      ->UseManualTime()
      ->Iterations(5000);
  benchmark::RegisterBenchmark("submit/condvar", submit_cost<CondvarQueue>)
      ->UseManualTime()
      ->Iterations(5000);
  benchmark::RegisterBenchmark("round_trip/millrace/spinning", round_trip_spinning)->UseRealTime();
  benchmark::RegisterBenchmark("round_trip/millrace/parked", round_trip_parked)->UseRealTime();
  benchmark::RegisterBenchmark("round_trip/condvar", round_trip_condvar)->UseRealTime();
  register_throughput();
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  millrace::bench::register_all();
  millrace::bench::RatioReporter reporter(benchmark::ConsoleReporter::OO_Tabular);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratios();
  benchmark::Shutdown();
  return 0;
}
