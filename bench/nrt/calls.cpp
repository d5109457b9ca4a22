// Schedules requests in bursts and times each burst, so that the time of the clock is negligible.
// Threads of the runtime run on another core than the caller.
#include "bench/nrt/calls.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "bench/nrt/face.h"
#include "bench/queue/placement.h"
#include "device/faulty/faulty_device.h"
#include "device/registry.h"

namespace millrace::bench {
namespace {

constexpr int kBurst = 256;

const Face::Variables kNullDevice = {{"MILLRACE_DEVICE", "null"},
                                     {"MILLRACE_NRT_COMPUTE_DEPTH", "4096"}};
const Face::Variables kGatedDevice = {{"MILLRACE_DEVICE", "faulty-null"},
                                      {"MILLRACE_NRT_COMPUTE_DEPTH", "4096"}};

// A runtime whose threads run on another core than the caller.
struct Fixture {
  explicit Fixture(const Face::Variables& environment)
      : face(placement.elsewhere(
            [&] { return std::make_unique<Face>(environment, tanh_model(16, 1)); })),
        slot(*face) {
    placement.elsewhere([&] {
      await(schedule());
      await(write());
      return 0;
    });
  }

  nrta_seq_t schedule() {
    nrta_seq_t sequence = 0;
    expect_success(
        nrta_execute_schedule(face->model(), slot.inputs, slot.outputs, 0, &ret, &sequence),
        "nrta_execute_schedule");
    return sequence;
  }
  nrta_seq_t write() {
    nrta_seq_t sequence = 0;
    expect_success(
        nrta_tensor_write(slot.input, slot.from.data(), 0, slot.from.size(), 0, 0, &ret, &sequence),
        "nrta_tensor_write");
    return sequence;
  }
  static void await(nrta_seq_t sequence) {
    for (bool completed = false; !completed;) nrta_is_completed(sequence, &completed);
  }

  Placement placement;
  const std::unique_ptr<Face> face;
  const Slot slot;
  NRT_STATUS ret = NRT_SUCCESS;
};

// Times bursts of calls, and reports their median in addition to the mean: on a machine that is
// busy with other work some bursts are interrupted, and they dominate the mean.
class Bursts {
 public:
  explicit Bursts(benchmark::State& state) : state_(state) {}
  ~Bursts() {
    std::ranges::nth_element(each_, each_.begin() + each_.size() / 2);
    state_.counters["median_ns"] = each_[each_.size() / 2];
  }
  Bursts(const Bursts&) = delete;
  Bursts& operator=(const Bursts&) = delete;

  bool go_on() { return state_.KeepRunningBatch(kBurst); }
  // Times one burst, and returns the result of its last call.
  template <class Schedule>
  nrta_seq_t run(Schedule&& schedule) {
    nrta_seq_t sequence = 0;
    const int64_t begin = now_ns();
    for (int i = 0; i < kBurst; ++i) sequence = schedule();
    const auto taken = static_cast<double>(now_ns() - begin);
    state_.SetIterationTime(taken * 1e-9);
    each_.push_back(taken / kBurst);
    return sequence;
  }

 private:
  benchmark::State& state_;
  std::vector<double> each_;
};

void execute_schedule(benchmark::State& state) {
  Fixture fixture(kNullDevice);
  Bursts bursts(state);
  while (bursts.go_on()) Fixture::await(bursts.run([&] { return fixture.schedule(); }));
}

// Holds the lane at the gate of a fault plan while the calls are timed, so it is busy, as in a
// pipeline.
void execute_schedule_behind_another(benchmark::State& state) {
  Fixture fixture(kGatedDevice);
  const auto device = device::open_device("faulty-null");
  device::FaultPlan& gate = *device::faults_of(**device);
  Bursts bursts(state);
  for (uint64_t held = 1; bursts.go_on(); ++held) {
    gate.hold();
    fixture.schedule();
    gate.await_holds(held);
    const nrta_seq_t last = bursts.run([&] { return fixture.schedule(); });
    gate.release();
    Fixture::await(last);
  }
}

void tensor_write(benchmark::State& state) {
  Fixture fixture(kNullDevice);
  Bursts bursts(state);
  while (bursts.go_on()) Fixture::await(bursts.run([&] { return fixture.write(); }));
}

void get_sequence(benchmark::State& state) {
  const Fixture fixture(kNullDevice);
  nrta_seq_t sequence = 0;
  for (auto _ : state) {
    nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &sequence);
    benchmark::DoNotOptimize(sequence);
  }
}

void is_completed(benchmark::State& state) {
  Fixture fixture(kNullDevice);
  const nrta_seq_t sequence = fixture.schedule();
  bool completed = false;
  for (auto _ : state) {
    nrta_is_completed(sequence, &completed);
    benchmark::DoNotOptimize(completed);
  }
}

void execute(benchmark::State& state) {
  const Fixture fixture(kNullDevice);
  for (auto _ : state)
    expect_success(nrt_execute(fixture.face->model(), fixture.slot.inputs, fixture.slot.outputs),
                   "nrt_execute");
}

}  // namespace

void register_calls() {
  benchmark::RegisterBenchmark("nrta_execute_schedule (target 250)", execute_schedule)
      ->UseManualTime();
  benchmark::RegisterBenchmark("nrta_execute_schedule behind another (target 250)",
                               execute_schedule_behind_another)
      ->UseManualTime();
  benchmark::RegisterBenchmark("nrta_tensor_write, 64 bytes", tensor_write)->UseManualTime();
  benchmark::RegisterBenchmark("nrta_get_sequence (target 10)", get_sequence);
  benchmark::RegisterBenchmark("nrta_is_completed", is_completed);
  benchmark::RegisterBenchmark("nrt_execute", execute);
}

}  // namespace millrace::bench
