// Measures the time from submit until the waiter resumes, one job at a time.
//
//   spinning   lane and waiter spin and never sleep
//   parked     neither spins: the submitter wakes the lane, the lane wakes the waiter
//   spin       two threads that spin on each other's word, without a queue (spin_handoff.h)
//   futex      two threads that wake each other by futex, without a queue (futex_handoff.h)
//   condvar    a queue with a mutex and condition variables (condvar_queue.h)
//   asio       Boost.Asio: the worker sleeps, the waiter spins (asio_queue.h)
//   uring_nop  io_uring: one system call, with 1 and with 32 requests; time per request
#include <benchmark/benchmark.h>

#include "bench/queue/asio_queue.h"
#include "bench/queue/benchmarks.h"
#include "bench/queue/condvar_queue.h"
#include "bench/queue/futex_handoff.h"
#include "bench/queue/millrace_queue.h"
#include "bench/queue/placement.h"
#include "bench/queue/spin_handoff.h"
#include "bench/queue/uring_nop.h"

namespace millrace::bench {
namespace {

template <class Queue, class... Arguments>
void submit_and_wait(benchmark::State& state, Arguments... arguments) {
  Placement placement;
  const auto queue = placement.make<Queue>(1, arguments...);
  for (auto _ : state) queue->wait(queue->submit());
}

void round_trip_parked(benchmark::State& state) {
  submit_and_wait<MillraceQueue>(state, MillraceQueue::kParkAtOnce);
}

template <class Handoff>
void hand_over_and_back(benchmark::State& state) {
  Placement placement;
  const auto handoff = placement.make<Handoff>();
  for (auto _ : state) handoff->round_trip();
}

void round_trip_uring_nop(benchmark::State& state) {
  const auto batch = static_cast<unsigned>(state.range(0));
  UringNop ring(batch);
  if (const std::string reason = ring.unavailable(); !reason.empty())
    return state.SkipWithError(reason.c_str());
  while (state.KeepRunningBatch(batch)) ring.run(batch);
}

}  // namespace

void register_round_trips() {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("round_trip/millrace/spinning", submit_and_wait<MillraceQueue>)->UseRealTime();
  RegisterBenchmark("round_trip/millrace/parked", round_trip_parked)->UseRealTime();
  RegisterBenchmark("round_trip/spin", hand_over_and_back<SpinHandoff>)->UseRealTime();
  RegisterBenchmark("round_trip/futex", hand_over_and_back<FutexHandoff>)->UseRealTime();
  RegisterBenchmark("round_trip/condvar", submit_and_wait<CondvarQueue>)->UseRealTime();
  RegisterBenchmark("round_trip/asio", submit_and_wait<AsioQueue>)->UseRealTime();
  RegisterBenchmark("round_trip/uring_nop", round_trip_uring_nop)
      ->ArgName("batch")
      ->Arg(1)
      ->Arg(32)
      ->UseRealTime();
}

}  // namespace millrace::bench
