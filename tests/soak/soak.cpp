// Soak: random submit, cancel, deadline, fault and reset from eight threads, for a given time.
// Nothing may be lost: every submitted job completes exactly once, and callback, wait and co_await
// report the same status, and a long run stops to grow (process_sample.h). Prints the counts; exit
// code 1 when a check fails.
//
// With --fail-every N, every N-th allocation of the library fails; that needs the preloaded
// libmillrace_failing.so (tests/failing_resources).
//
// usage: soak_test [--seconds N] [--seed S] [--fail-every N]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "millrace/millrace.hpp"
#include "tests/failing_resources/failing_control.h"
#include "tests/soak/process_sample.h"
#include "tests/soak/run_statistics.h"
#include "tests/soak/worker.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::soak {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr const char* kDevice = "faulty-null";
constexpr uint32_t kLanes = 2;
constexpr size_t kWorkers = 8;
// No step of a run waits longer than this; a run without progress for this long is stuck.
constexpr seconds kStuckAfter{60};
constexpr seconds kSampleEvery{5};

struct Options {
  uint64_t seconds = 5;
  uint64_t seed = 1;
  uint64_t fail_every = 0;  // 0: no allocation fails
};

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    uint64_t* const number = name == "--seconds"      ? &options.seconds
                             : name == "--seed"       ? &options.seed
                             : name == "--fail-every" ? &options.fail_every
                                                      : nullptr;
    if (number == nullptr || i + 1 == count) return false;
    *number = std::strtoull(words[i + 1], nullptr, 10);
  }
  return true;
}

void make_units(Device& device, RunStatistics& statistics, std::deque<SharedUnit>& units) {
  constexpr milliseconds kWatchdog{10};
  units.emplace_back(device, statistics,
                     UnitOptions{.name = "executing", .depth = 4, .auto_reset = true});
  units.emplace_back(device, statistics,
                     UnitOptions{.name = "failing", .depth = 2, .watchdog = kWatchdog});
  units.emplace_back(
      device, statistics,
      UnitOptions{
          .name = "blocking", .depth = 3, .when_full = WhenFull::kBlock, .watchdog = kWatchdog});
  units.emplace_back(device, statistics,
                     UnitOptions{.name = "dropping",
                                 .depth = 4,
                                 .when_full = WhenFull::kDropOldest,
                                 .watchdog = kWatchdog,
                                 .auto_reset = true});
  units.emplace_back(device, statistics,
                     UnitOptions{.name = "shedding",
                                 .depth = 8,
                                 .when_full = WhenFull::kShedByDeadline,
                                 .callback_order = CallbackOrder::kCompletion,
                                 .auto_reset = true});
  units.emplace_back(device, statistics,
                     UnitOptions{.name = "deep",
                                 .depth = 64,
                                 .callback_order = CallbackOrder::kCompletion,
                                 .wait_spin = std::chrono::nanoseconds(0),
                                 .watchdog = kWatchdog,
                                 .auto_reset = true});
}

// In a storm so many jobs hang that lanes are lost until their threads come back.
device::FaultRates fault_rates(bool storm) {
  return {.fail = 0.002,
          .hang = storm ? 0.3 : 0.0002,
          .slow = 0.002,
          .hang_for = milliseconds(storm ? 200 : 40),
          .slow_for = milliseconds(1)};
}

// The samples of the process, each printed at once.
class Sampler {
 public:
  void tick() {
    const auto now = steady_clock::now();
    if (now < next_) return;
    next_ += kSampleEvery;
    const ProcessSample sample =
        sample_process(std::chrono::duration<double>(now - start_).count());
    growth_.add(sample);
    fmt::print("{}\n", describe(sample));
    std::fflush(stdout);
  }
  const Growth& growth() const noexcept { return growth_; }

 private:
  const steady_clock::time_point start_ = steady_clock::now();
  steady_clock::time_point next_ = start_;
  Growth growth_;
};

// Sleeps for the length of the run, with a storm every two seconds; ends the program when no job
// completes for long.
void watch(RunStatistics& statistics, device::FaultPlan& faults, std::atomic<bool>& storm,
           const Options& options) {
  const auto end = steady_clock::now() + seconds(options.seconds);
  auto progress_at = steady_clock::now();
  uint64_t seen = 0;
  Sampler sampler;
  for (uint64_t tick = 1; steady_clock::now() < end; ++tick) {
    sampler.tick();
    storm.store(tick % 20 >= 17);
    faults.randomize(options.seed + tick, fault_rates(storm.load()));
    std::this_thread::sleep_for(milliseconds(100));
    const uint64_t completed = sum(statistics.completed);
    if (completed != seen) progress_at = steady_clock::now();
    seen = completed;
    if (steady_clock::now() - progress_at < kStuckAfter) continue;
    std::fputs("soak: stuck, nothing completes any more\n", stderr);
    std::_Exit(1);
  }
  sampler.growth().check(statistics);
}

void run_workers(const World& world, device::FaultPlan& faults, std::atomic<bool>& storm,
                 const Options& options) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&, i] {
      Worker worker(world, options.seed * kWorkers + i);
      worker.run(stop);
    });
  }
  watch(world.statistics, faults, storm, options);
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

// Closes the units and compares their counts with the statistics.
void settle(RunStatistics& statistics, std::deque<SharedUnit>& units) {
  uint64_t issued = 0;
  for (SharedUnit& shared : units) {
    shared.unit.close();
    issued += shared.unit.last_submitted() & ((JobId{1} << 48) - 1);
    statistics.expect(shared.unit.last_completed() == shared.unit.last_submitted(),
                      "a closed unit has jobs that are not complete");
    statistics.expect(shared.unit.in_flight() == 0, "a closed unit has jobs in flight");
    statistics.expect(shared.callbacks.is_complete(shared.callbacks.accepted_count()),
                      "callbacks are missing, or too many");
  }
  uint64_t accepted = 0;
  for (const SharedUnit& shared : units) accepted += shared.callbacks.accepted_count();
  const uint64_t executed = statistics.executed.load();
  statistics.expect(issued >= accepted + executed &&
                        issued <= accepted + executed + statistics.refused_or_failed.load(),
                    "units have issued other numbers of jobs than were submitted");
  statistics.expect(sum(statistics.completed) == statistics.submitted.load(),
                    "not every job that was submitted has completed once");
  statistics.expect(statistics.coroutines.load() == 0, "coroutines did not go on");
}

std::string by_code(const ByCode& counters) {
  std::string text;
  for (size_t code = 0; code < counters.size(); ++code)
    if (const uint64_t value = counters[code].load(); value != 0)
      text += fmt::format("  {} {}", to_string(static_cast<StatusCode>(code)), value);
  return text;
}

void print(const RunStatistics& statistics, const device::FaultCounts& faults, uint64_t generations,
           uint64_t failed_allocations) {
  std::string text;
  text += fmt::format("submitted    {}\n", statistics.submitted.load());
  text +=
      fmt::format("completed    {}:{}\n", sum(statistics.completed), by_code(statistics.completed));
  text +=
      fmt::format("collected    {}:{}\n", sum(statistics.collected), by_code(statistics.collected));
  text += fmt::format("refused      {}:{}\n", sum(statistics.refused), by_code(statistics.refused));
  text += fmt::format("executed     {}, refused or failed {}\n", statistics.executed.load(),
                      statistics.refused_or_failed.load());
  text += fmt::format("cancelled    removed {}, stopped {}, too late {}, pending {}\n",
                      statistics.cancelled[0].load(), statistics.cancelled[1].load(),
                      statistics.cancelled[2].load(), statistics.cancel_pending.load());
  text += fmt::format("resets       asked for {}, of the shared units {}\n",
                      statistics.resets.load(), generations);
  text += fmt::format("units closed {}, event fds {}\n", statistics.units_closed.load(),
                      statistics.event_fds.load());
  text += fmt::format("injected     failures {}, hangs {}, slow {}\n", faults.failures,
                      faults.hangs, faults.slows);
  text += fmt::format("threads set aside because of hangs {}\n",
                      statistics.completed[static_cast<size_t>(StatusCode::kHung)].load());
  text += fmt::format("allocations that were made to fail {}, of them {} of the workers' own\n",
                      failed_allocations, statistics.own_failures.load());
  text += fmt::format("violations   {}\n", statistics.violations().size());
  for (const auto& [violation, times] : statistics.violations())
    text += fmt::format("  {} ({} times)\n", violation, times);
  std::fputs(text.c_str(), stdout);
}

Result<Model> load_tiny(Device& device) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("tiny.rai");
  if (Status written = test::write_tiny_model(path); !written.ok()) return written;
  return device.load(path);
}

int run(const Options& options) {
  Device device = Device::open(kDevice, {.lanes = kLanes}).value();
  const Model model = load_tiny(device).value();
  const auto faults = device::faults_of(*device::open_device(kDevice).value());

  std::vector<std::byte> input(model.inputs()[0].cpu.bytes), output(model.outputs()[0].cpu.bytes);
  const TensorArg inputs[] = {std::span(input)}, outputs[] = {std::span(output)};
  const JobArgs args{.inputs = inputs, .outputs = outputs};
  RunStatistics statistics;
  statistics.may_forget = options.fail_every != 0;
  std::atomic<bool> storm{false};
  std::deque<SharedUnit> units;
  make_units(device, statistics, units);
  const test::FailingControl failing;
  if (options.fail_every != 0 && !failing.is_loaded()) {
    std::fputs("soak: --fail-every needs libmillrace_failing.so: set LD_PRELOAD\n", stderr);
    return 2;
  }
  const test::Spared own(failing);
  if (options.fail_every != 0)
    failing.start(static_cast<uint32_t>(test::Resource::kMemory), options.fail_every,
                  options.fail_every);
  run_workers({device, model, args, units, units.front(), storm, statistics, failing}, *faults,
              storm, options);
  if (options.fail_every != 0) failing.stop();
  faults->heal();
  faults->end_hangs();
  settle(statistics, units);

  uint64_t generations = 0;
  for (const SharedUnit& shared : units) generations += shared.unit.generation();
  fmt::print("soak of {} s, seed {}, {} threads, {} units on {}\n", options.seconds, options.seed,
             kWorkers, units.size(), kDevice);
  print(statistics, faults->counts(), generations, options.fail_every != 0 ? failing.failed() : 0);
  return statistics.violations().empty() ? 0 : 1;
}

}  // namespace
}  // namespace millrace::soak

int main(int argc, char** argv) {
  millrace::soak::Options options;
  if (!millrace::soak::parse(argc, argv, options)) {
    std::fputs("usage: soak_test [--seconds N] [--seed S] [--fail-every N]\n", stderr);
    return 2;
  }
  return millrace::soak::run(options);
}
