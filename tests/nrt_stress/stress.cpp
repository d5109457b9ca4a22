// Stress: eight threads schedule mixed requests in several rounds from nrt_init to nrt_close, with
// random faults, units that are degraded, event fds that are closed early, and tensors that are
// freed in flight; in the last rounds the threads leave work behind for nrt_close. Every accepted
// request must complete exactly once, and ret, trackers, event fds and sequences must agree on it.
// Prints what it counted; exit code 1 when a check fails.
//
// usage: nrt_stress_test [--requests N] [--seed S]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "graph/archive/codec.h"
#include "tests/nrt_stress/run_statistics.h"
#include "tests/nrt_stress/worker.h"
#include "tests/support/tiny_model.h"

namespace millrace::stress {
namespace {

constexpr const char* kDevice = "faulty-null";
constexpr size_t kWorkers = 8;
constexpr uint64_t kRounds = 4;

struct Options {
  uint64_t requests = 200'000;
  uint64_t seed = 1;
};

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    if (i + 1 == count || (name != "--requests" && name != "--seed")) return false;
    (name == "--seed" ? options.seed : options.requests) = std::strtoull(words[i + 1], nullptr, 10);
  }
  return true;
}

void set_up_environment() {
  setenv("MILLRACE_DEVICE", kDevice, 1);
  setenv("MILLRACE_NRT_CORES", "2", 1);
  setenv("MILLRACE_NRT_COMPUTE_DEPTH", "8", 1);
  setenv("MILLRACE_NRT_TRANSFER_DEPTH", "12", 1);
  setenv("NEURON_RT_LOG_LEVEL", "QUIET", 1);
}

// Failures that do not degrade their unit; and, in the middle of every second round, one transfer
// that does.
void set_faults(device::Device& device, uint64_t seed, bool break_one) {
  device::FaultRates rates;
  rates.fail = 0.02;
  rates.slow = 0.001;
  rates.slow_for = std::chrono::microseconds(200);
  rates.failure = internal_error("injected");
  device::faults_of(device)->randomize(seed, rates);
  device::transfer_faults_of(device)->randomize(seed + 1, rates);
  if (break_one) device::transfer_faults_of(device)->fail_nth(1000);
}

World start(RunStatistics& statistics) {
  World world{statistics, {}};
  statistics.expect(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS, "nrt_init failed");
  const auto bytes = model::archive_bytes(graph::encode(test::tiny_model()));
  for (uint32_t core = 0; core < kCores; ++core)
    statistics.expect(nrt_load(bytes.data(), bytes.size(), static_cast<int32_t>(core), 1,
                               &world.models[core]) == NRT_SUCCESS,
                      "nrt_load failed");
  return world;
}

// To be called once everything has completed: the units have counted the accepted requests without
// gaps.
void compare_sequences(RunStatistics& statistics) {
  for (size_t i = 0; i < kUnits; ++i) {
    const UnitOfRun& unit = kAllUnits[i];
    nrta_seq_t last = 0;
    nrta_get_sequence(unit.core, unit.kind, unit.queue, &last);
    statistics.expect(NRTA_SEQ_GET_SEQ_NUM(last) == statistics.accepted_by_unit[i].load(),
                      "a unit has completed other numbers of requests than it accepted");
  }
}

// Runs a round from nrt_init to nrt_close. With `drain`, workers first wait for all their requests.
void run_round(RunStatistics& statistics, const Options& options, uint64_t round, bool drain) {
  const World world = start(statistics);
  for (std::atomic<uint64_t>& accepted : statistics.accepted_by_unit) accepted = 0;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kWorkers; ++i)
    workers.push_back(
        std::make_unique<Worker>(world, (options.seed * kRounds + round) * kWorkers + i));
  for (const std::unique_ptr<Worker>& worker : workers)
    threads.emplace_back([&] { worker->run(options.requests / kRounds / kWorkers, drain); });
  for (std::thread& thread : threads) thread.join();
  if (drain) compare_sequences(statistics);
  nrt_close();
  for (const std::unique_ptr<Worker>& worker : workers) worker->settle();
}

void print(const RunStatistics& statistics, const Options& options,
           const device::FaultCounts& executions, const device::FaultCounts& transfers) {
  fmt::print("stress of {} requests, seed {}, {} threads, {} rounds on {}\n", options.requests,
             options.seed, kWorkers, kRounds, kDevice);
  fmt::print("accepted   {}, and {} synchronous\n", statistics.accepted.load(),
             statistics.executed.load());
  fmt::print("completed  {}: success {}, failed {}, unrecoverable {}, closed {}, tracked {}\n",
             statistics.completed.load(), statistics.succeeded.load(), statistics.failed.load(),
             statistics.unrecoverable.load(), statistics.closed.load(), statistics.tracked.load());
  fmt::print("refused    full {}, unrecoverable {}\n", statistics.full.load(),
             statistics.refused.load());
  fmt::print("trackers   {} errors\n", statistics.tracked_errors.load());
  fmt::print("event fds  {}, and {} closed early\n", statistics.event_fds.load(),
             statistics.event_fds_closed_early.load());
  fmt::print("injected   failures {} and {}, slow {} and {}\n", executions.failures,
             transfers.failures, executions.slows, transfers.slows);
  const auto violations = statistics.violations();
  fmt::print("violations {}\n", violations.size());
  for (const auto& [violation, times] : violations)
    fmt::print("  {} ({} times)\n", violation, times);
}

int run(const Options& options) {
  set_up_environment();
  const std::shared_ptr<device::Device> device = device::open_device(kDevice, {.lanes = 2}).value();
  RunStatistics statistics;
  for (uint64_t round = 0; round < kRounds; ++round) {
    set_faults(*device, options.seed + round, round % 2 == 1);
    run_round(statistics, options, round, round < kRounds / 2);
  }
  statistics.expect(statistics.completed.load() == statistics.accepted.load(),
                    "not every request that was accepted has completed once");
  print(statistics, options, device::faults_of(*device)->counts(),
        device::transfer_faults_of(*device)->counts());
  return statistics.violations().empty() ? 0 : 1;
}

}  // namespace
}  // namespace millrace::stress

int main(int argc, char** argv) {
  millrace::stress::Options options;
  if (!millrace::stress::parse(argc, argv, options)) {
    std::fputs("usage: nrt_stress_test [--requests N] [--seed S]\n", stderr);
    return 2;
  }
  return millrace::stress::run(options);
}
