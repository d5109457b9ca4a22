#include "bench/vart/host_stage.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <functional>

#include "bench/median.h"
#include "bench/vart/loaded_model.h"

namespace millrace::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr auto kRoundTime = std::chrono::seconds(2);
constexpr std::chrono::milliseconds kPatience{30'000};

struct Slot {
  Tensors inputs, outputs;
  vart::JobHandle job;
};

// Simulates the work of a program on its pictures: keeps a core busy for that time.
void host_stage(Milliseconds time) {
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  while (Clock::now() < end) {
  }
}

void run_synchronously(vart::Runner& runner, Slot& slot, int frames, Milliseconds host) {
  for (int i = 0; i < frames; ++i) {
    host_stage(host);
    expect_success(runner.execute(slot.inputs, slot.outputs));
  }
}

void run_asynchronously(vart::Runner& runner, std::array<Slot, 2>& slots, int frames,
                        Milliseconds host) {
  for (int i = 0; i < frames; ++i) {
    Slot& slot = slots[i % slots.size()];
    if (slot.job.job_id != 0) expect_success(runner.wait(slot.job, kPatience));
    host_stage(host);
    slot.job = runner.execute_async(slot.inputs, slot.outputs);
    expect_success(slot.job.status);
  }
  for (Slot& slot : slots) {
    expect_success(runner.wait(slot.job, kPatience));
    slot.job = {};
  }
}

Milliseconds time_of(const std::function<void()>& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return Clock::now() - begin;
}

}  // namespace

void report_host_stage(const std::string& archive) {
  const std::shared_ptr<vart::Runner> runner = make_runner(archive, "cpu");
  std::array<Slot, 2> slots;
  for (Slot& slot : slots) {
    slot.inputs = allocate(*runner, vart::TensorDirection::INPUT);
    slot.outputs = allocate(*runner, vart::TensorDirection::OUTPUT);
  }
  run_asynchronously(*runner, slots, 4, Milliseconds::zero());  // creates the contexts

  constexpr int kSamples = 10;
  const Milliseconds device =
      time_of([&] { run_synchronously(*runner, slots[0], kSamples, Milliseconds::zero()); }) /
      kSamples;
  const Milliseconds host = device / 2;
  const int frames = std::max(10, static_cast<int>(kRoundTime / (device + host)));
  std::vector<double> ratios, shares;
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    const auto synchronous = time_of([&] { run_synchronously(*runner, slots[0], frames, host); });
    const auto asynchronous = time_of([&] { run_asynchronously(*runner, slots, frames, host); });
    const auto device_alone =
        time_of([&] { run_asynchronously(*runner, slots, frames, Milliseconds::zero()); });
    ratios.push_back(synchronous / asynchronous);
    shares.push_back(device_alone / asynchronous);
  }
  fmt::print(
      "two jobs in flight over execute, host stage of {:.2f} ms, device {:.2f} ms, {} frames\n"
      "  asynchronous over synchronous               {:>7.2f} (target 1.4)\n"
      "  of the rate without a host stage            {:>7.3f} (target 0.98 with "
      "MILLRACE_LANES=1)\n",
      host.count(), device.count(), frames, median(ratios), median(shares));
}

}  // namespace millrace::bench
