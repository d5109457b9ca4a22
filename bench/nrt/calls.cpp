#include "bench/nrt/calls.h"

#include <benchmark/benchmark.h>

#include <chrono>

#include "bench/nrt/face.h"

namespace millrace::bench {
namespace {

constexpr int kBurst = 256;

const Face::Variables kNullDevice = {{"MILLRACE_DEVICE", "null"},
                                     {"MILLRACE_NRT_COMPUTE_DEPTH", "4096"}};

void await(nrta_seq_t sequence) {
  for (bool completed = false; !completed;) nrta_is_completed(sequence, &completed);
}

// Times bursts of calls of `schedule`, and not the waiting for them.
template <class Schedule>
void run_bursts(benchmark::State& state, Schedule&& schedule) {
  nrta_seq_t sequence = 0;
  while (state.KeepRunningBatch(kBurst)) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kBurst; ++i) schedule(&sequence);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(taken.count());
    await(sequence);
  }
}

void execute_schedule(benchmark::State& state) {
  const Face face(kNullDevice, tanh_model(16, 1));
  const Slot slot(face);
  NRT_STATUS ret = NRT_SUCCESS;
  run_bursts(state, [&](nrta_seq_t* sequence) {
    expect_success(
        nrta_execute_schedule(face.model(), slot.inputs, slot.outputs, 0, &ret, sequence),
        "nrta_execute_schedule");
  });
}

void tensor_write(benchmark::State& state) {
  const Face face(kNullDevice, tanh_model(16, 1));
  const Slot slot(face);
  NRT_STATUS ret = NRT_SUCCESS;
  run_bursts(state, [&](nrta_seq_t* sequence) {
    expect_success(
        nrta_tensor_write(slot.input, slot.from.data(), 0, slot.from.size(), 0, 0, &ret, sequence),
        "nrta_tensor_write");
  });
}

void get_sequence(benchmark::State& state) {
  const Face face(kNullDevice, tanh_model(16, 1));
  nrta_seq_t sequence = 0;
  for (auto _ : state) {
    nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &sequence);
    benchmark::DoNotOptimize(sequence);
  }
}

void is_completed(benchmark::State& state) {
  const Face face(kNullDevice, tanh_model(16, 1));
  const Slot slot(face);
  nrta_seq_t sequence = 0;
  expect_success(
      nrta_execute_schedule(face.model(), slot.inputs, slot.outputs, 0, nullptr, &sequence),
      "nrta_execute_schedule");
  bool completed = false;
  for (auto _ : state) {
    nrta_is_completed(sequence, &completed);
    benchmark::DoNotOptimize(completed);
  }
}

void execute(benchmark::State& state) {
  const Face face(kNullDevice, tanh_model(16, 1));
  const Slot slot(face);
  for (auto _ : state)
    expect_success(nrt_execute(face.model(), slot.inputs, slot.outputs), "nrt_execute");
}

}  // namespace

void register_calls() {
  benchmark::RegisterBenchmark("nrta_execute_schedule (target 250)", execute_schedule)
      ->UseManualTime();
  benchmark::RegisterBenchmark("nrta_tensor_write, 64 bytes", tensor_write)->UseManualTime();
  benchmark::RegisterBenchmark("nrta_get_sequence (target 10)", get_sequence);
  benchmark::RegisterBenchmark("nrta_is_completed", is_completed);
  benchmark::RegisterBenchmark("nrt_execute", execute);
}

}  // namespace millrace::bench
