// Stress: eight threads schedule mixed requests in several lives of the runtime, with random
// faults, units that break down, event fds that are closed early, and tensors that are freed in
// flight; the last threads leave work behind for nrt_close. Every accepted request must complete
// exactly once, and ret, trackers, event fds and sequences must agree on it. Prints what it
// counted; exit code 1 when something does not add up.
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
#include "graph/archive_codec.h"
#include "tests/nrt_stress/books.h"
#include "tests/nrt_stress/worker.h"
#include "tests/support/tiny_model.h"

namespace millrace::stress {
namespace {

constexpr const char* kDevice = "faulty-null";
constexpr size_t kWorkers = 8;
constexpr uint64_t kLives = 4;

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

// Failures that do not degrade their unit; and, in the middle of every second life, one transfer
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

World start(Books& books) {
  World world{books, {}};
  books.expect(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS, "nrt_init failed");
  const auto bytes = model::archive_bytes(graph::encode(test::tiny_model()));
  for (uint32_t core = 0; core < kCores; ++core)
    books.expect(nrt_load(bytes.data(), bytes.size(), static_cast<int32_t>(core), 1,
                          &world.models[core]) == NRT_SUCCESS,
                 "nrt_load failed");
  return world;
}

// To be called once everything has completed: the units have counted the accepted requests without
// gaps.
void compare_sequences(Books& books) {
  for (size_t i = 0; i < kUnits; ++i) {
    const UnitOfRun& unit = kAllUnits[i];
    nrta_seq_t last = 0;
    nrta_get_sequence(unit.core, unit.kind, unit.queue, &last);
    books.expect(NRTA_SEQ_GET_SEQ_NUM(last) == books.accepted_by_unit[i].load(),
                 "a unit has completed other numbers of requests than it accepted");
  }
}

// From nrt_init to nrt_close. With `drain`, the workers wait for all their requests first.
void live(Books& books, const Options& options, uint64_t life, bool drain) {
  const World world = start(books);
  for (std::atomic<uint64_t>& accepted : books.accepted_by_unit) accepted = 0;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kWorkers; ++i)
    workers.push_back(
        std::make_unique<Worker>(world, (options.seed * kLives + life) * kWorkers + i));
  for (const std::unique_ptr<Worker>& worker : workers)
    threads.emplace_back([&] { worker->run(options.requests / kLives / kWorkers, drain); });
  for (std::thread& thread : threads) thread.join();
  if (drain) compare_sequences(books);
  nrt_close();
  for (const std::unique_ptr<Worker>& worker : workers) worker->settle();
}

void print(const Books& books, const Options& options, const device::FaultCounts& executions,
           const device::FaultCounts& transfers) {
  fmt::print("stress of {} requests, seed {}, {} threads, {} lives on {}\n", options.requests,
             options.seed, kWorkers, kLives, kDevice);
  fmt::print("accepted   {}, and {} synchronous\n", books.accepted.load(), books.executed.load());
  fmt::print("completed  {}: success {}, failed {}, unrecoverable {}, closed {}, tracked {}\n",
             books.completed.load(), books.succeeded.load(), books.failed.load(),
             books.unrecoverable.load(), books.closed.load(), books.tracked.load());
  fmt::print("refused    full {}, unrecoverable {}\n", books.full.load(), books.refused.load());
  fmt::print("trackers   {} errors\n", books.tracked_errors.load());
  fmt::print("event fds  {}, and {} closed early\n", books.event_fds.load(),
             books.event_fds_closed_early.load());
  fmt::print("injected   failures {} and {}, slow {} and {}\n", executions.failures,
             transfers.failures, executions.slows, transfers.slows);
  const auto mistakes = books.mistakes();
  fmt::print("mistakes   {}\n", mistakes.size());
  for (const std::string& mistake : mistakes) fmt::print("  {}\n", mistake);
}

int run(const Options& options) {
  set_up_environment();
  const std::shared_ptr<device::Device> device = device::open_device(kDevice, {.lanes = 2}).value();
  Books books;
  for (uint64_t life = 0; life < kLives; ++life) {
    set_faults(*device, options.seed + life, life % 2 == 1);
    live(books, options, life, life < kLives / 2);
  }
  books.expect(books.completed.load() == books.accepted.load(),
               "not every request that was accepted has completed once");
  print(books, options, device::faults_of(*device)->counts(),
        device::transfer_faults_of(*device)->counts());
  return books.mistakes().empty() ? 0 : 1;
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
