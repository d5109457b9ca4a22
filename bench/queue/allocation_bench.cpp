// Counts the heap allocations per job in steady state, by the library that makes them: for units,
// and for sessions and the native API on the null device and on the CPU device.
//
//   allocation_bench [MODEL.onnx]     models/glyphs/glyphs.onnx by default
//
// The target is that Millrace makes none. oneDNN makes four for every primitive that it executes,
// and more for one with many arguments.
#include <errno.h>
#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/queue/bound_job.h"
#include "bench/queue/native_job.h"
#include "cli/bench/allocation_trace.h"
#include "compiler/compiler.h"
#include "device/registry.h"
#include "queue/units/unit.h"
#include "runtime/session.h"

namespace millrace::bench {
namespace {

using cli::AllocationTrace;
using cli::LibraryAllocations;

constexpr uint32_t kInFlight = 16;
constexpr uint32_t kRounds = 100;  // measured rounds of kInFlight jobs, after as many to warm up
constexpr std::chrono::milliseconds kForever = std::chrono::hours(1);

// Runs `jobs` jobs, at most kInFlight, to their end; returns false if one failed.
using Round = std::function<bool(uint32_t jobs)>;

bool is_ours(const std::string& library) {
  return library.starts_with("libmillrace") || library == program_invocation_short_name;
}

// Prints one line: the name, the allocations per job of each library, and PASS if Millrace made
// none.
void report(const std::string& name, const Round& round) {
  bool all_ok = true;
  for (uint32_t i = 0; i < kRounds; ++i) all_ok &= round(kInFlight);
  AllocationTrace::start();
  for (uint32_t i = 0; i < kRounds; ++i) all_ok &= round(kInFlight);
  const std::vector<LibraryAllocations> libraries = AllocationTrace::stop();

  std::string shown;
  bool ours = false;
  for (const LibraryAllocations& one : libraries) {
    constexpr double kJobs = kRounds * kInFlight;
    shown +=
        fmt::format("{}{} {:.4g} ({:.0f} B)", shown.empty() ? "" : ", ", one.library,
                    static_cast<double>(one.count) / kJobs, static_cast<double>(one.bytes) / kJobs);
    ours |= is_ours(one.library);
  }
  if (shown.empty()) shown = "none";
  fmt::print("{:<48}{:<38} {}\n", name, shown, !all_ok ? "FAILED" : ours ? "MISS" : "PASS");
}

// Counts the callbacks of a round, and can block them.
class Callbacks {
 public:
  void call() {
    begun_.fetch_add(1, std::memory_order_release);
    while (held_.load(std::memory_order_acquire)) std::this_thread::yield();
    ended_.fetch_add(1, std::memory_order_release);
  }
  void hold(bool held) { held_.store(held, std::memory_order_release); }
  uint64_t begun() const { return begun_.load(std::memory_order_acquire); }
  uint64_t ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> held_{false};
  std::atomic<uint64_t> begun_{0}, ended_{0};
};

template <class Ready>
void yield_until(Ready&& ready) {
  while (!ready()) std::this_thread::yield();
}

// Queues the largest possible number of callbacks at the same time, since each queued callback
// needs memory, which is kept for reuse: one callback is blocked, and those of a whole round wait
// after it.
void warm_up_callbacks(Callbacks& callbacks, const Round& round) {
  const uint64_t before = callbacks.ended();
  callbacks.hold(true);
  round(1);
  yield_until([&] { return callbacks.begun() == before + 1; });
  round(kInFlight);
  callbacks.hold(false);
  yield_until([&] { return callbacks.ended() == before + 1 + kInFlight; });
}

// Reports rounds that also wait for their callbacks, which may run after the jobs are completed.
void report_with_callbacks(const std::string& name, Callbacks& callbacks, const Round& round) {
  warm_up_callbacks(callbacks, round);
  uint64_t submitted = callbacks.ended();
  report(name, [&](uint32_t jobs) {
    const bool all_ok = round(jobs);
    submitted += jobs;
    yield_until([&] { return callbacks.ended() == submitted; });
    return all_ok;
  });
}

// Checks that allocations are really counted, so that a count of zero means that there were none.
Status check_counting() {
  AllocationTrace::start();
  const auto made = std::make_unique<std::string>(100, 'x');
  const std::vector<LibraryAllocations> libraries = AllocationTrace::stop();
  const bool counted = libraries.size() == 1 &&
                       libraries[0].library == program_invocation_short_name &&
                       libraries[0].count == 2 && made->size() == 100;
  return counted ? Status() : internal_error("allocations are not counted");
}

class NullTask final : public queue::Task {
 public:
  Status run(queue::RunControl&) noexcept override { return {}; }
  void release() noexcept override {}
};

void fill_nothing(queue::Task&) {}

void report_unit() {
  Callbacks callbacks;
  queue::Lanes lanes({.count = 1});
  queue::UnitOptions options;
  options.depth = kInFlight;
  options.make_task = [] { return std::make_unique<NullTask>(); };
  const auto unit = *queue::Unit::create(lanes, std::move(options));
  const auto submit_all = [&](uint32_t jobs, const queue::Callback& callback) {
    for (uint32_t i = 0; i < jobs; ++i)
      if (!unit->submit(fill_nothing, {.callback = callback}).ok()) return false;
    return unit->wait(unit->last_submitted(), kForever).ok();
  };
  const queue::Callback callback = [&](queue::SequenceId, const Status&) { callbacks.call(); };

  report("unit: submit, wait", [&](uint32_t jobs) { return submit_all(jobs, {}); });
  report_with_callbacks("unit: submit with callback, wait", callbacks,
                        [&](uint32_t jobs) { return submit_all(jobs, callback); });
  report("unit: submit 16 at once, wait", [&](uint32_t jobs) {
    const auto range = unit->try_submit_n(jobs, [](queue::Task&, uint32_t) {});
    return range.ok() && unit->wait(unit->last_submitted(), kForever).ok();
  });
  report("unit: execute", [&](uint32_t jobs) {
    bool all_ok = true;
    for (uint32_t i = 0; i < jobs; ++i) all_ok &= unit->execute(fill_nothing).ok();
    return all_ok;
  });
}

bool submit_all(runtime::Session& session, uint32_t jobs, const runtime::JobBindings& bindings,
                const runtime::JobCallback& callback) {
  runtime::SessionJobId ids[kInFlight];
  for (runtime::SessionJobId& id : std::span(ids, jobs)) {
    const auto submitted = session.submit(bindings, callback);
    if (!submitted.ok()) return false;
    id = *submitted;
  }
  bool all_ok = true;
  for (const runtime::SessionJobId id : std::span(ids, jobs))
    all_ok &= session.wait(id, kForever).ok();
  return all_ok;
}

Status report_session(const std::string& name, const std::string& device_name,
                      const std::shared_ptr<const graph::CompiledModel>& model) {
  Callbacks callbacks;
  MILLRACE_ASSIGN_OR_RETURN(const auto device, device::open_device(device_name));
  MILLRACE_ASSIGN_OR_RETURN(const auto program, device->load(model));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto session,
      runtime::Session::create(device, program, {.max_concurrent_runs = kInFlight}));
  const BoundJob job(*model);
  const runtime::JobBindings bindings = job.bindings();
  const runtime::JobCallback callback = [&](auto, const Status&) { callbacks.call(); };

  report(name + ": submit, wait",
         [&](uint32_t jobs) { return submit_all(*session, jobs, bindings, {}); });
  report_with_callbacks(name + ": submit with callback, wait", callbacks, [&](uint32_t jobs) {
    return submit_all(*session, jobs, bindings, callback);
  });
  report(name + ": execute", [&](uint32_t jobs) {
    bool all_ok = true;
    for (uint32_t i = 0; i < jobs; ++i) all_ok &= session->execute(bindings).ok();
    return all_ok;
  });
  return {};
}

Status report_native(const std::string& name, const char* device_name,
                     const graph::CompiledModel& compiled) {
  Callbacks callbacks;
  MILLRACE_ASSIGN_OR_RETURN(Device device, Device::open(device_name));
  MILLRACE_ASSIGN_OR_RETURN(const Model model, load_native(device, compiled));
  MILLRACE_ASSIGN_OR_RETURN(Unit unit, device.create_unit({.depth = kInFlight}));
  const NativeJob memory(model);
  const JobArgs plain = memory.args();
  JobArgs with_callback = plain;
  with_callback.callback = [&](JobId, const Status&) { callbacks.call(); };
  const auto submit_all = [&](uint32_t count, const JobArgs& args) {
    Job made[kInFlight];
    const std::span jobs(made, count);
    for (Job& job : jobs) {
      Result<Job> submitted = unit.submit(model, args);
      if (!submitted.ok()) return false;
      job = *std::move(submitted);
    }
    bool all_ok = true;
    for (Job& job : jobs) all_ok &= job.wait().ok();
    return all_ok;
  };

  report(name + ": submit, wait", [&](uint32_t jobs) { return submit_all(jobs, plain); });
  report_with_callbacks(name + ": submit with callback, wait", callbacks,
                        [&](uint32_t jobs) { return submit_all(jobs, with_callback); });
  report(name + ": execute", [&](uint32_t jobs) {
    bool all_ok = true;
    for (uint32_t i = 0; i < jobs; ++i) all_ok &= unit.execute(model, plain).ok();
    return all_ok;
  });
  return {};
}

// Returns the number of steps of the program that are oneDNN primitives.
Result<size_t> count_primitives(const std::shared_ptr<const graph::CompiledModel>& model) {
  MILLRACE_ASSIGN_OR_RETURN(const auto device, device::open_device("cpu"));
  MILLRACE_ASSIGN_OR_RETURN(const auto program, device->load(model));
  size_t primitives = 0;
  for (const device::StepInfo& step : program->info().steps)
    primitives += !step.implementation.starts_with("millrace:");
  return primitives;
}

Status report_all(const std::string& model_path) {
  MILLRACE_RETURN_IF_ERROR(check_counting());
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel compiled, compiler::compile(model_path, {}));
  const auto model = std::make_shared<const graph::CompiledModel>(std::move(compiled));
  MILLRACE_ASSIGN_OR_RETURN(const size_t primitives, count_primitives(model));

  fmt::print("Allocations per job and library, {} jobs after as many to warm up\n",
             kRounds * kInFlight);
  report_unit();
  MILLRACE_RETURN_IF_ERROR(report_session("session on null", "null", model));
  MILLRACE_RETURN_IF_ERROR(report_native("native unit on null", "null", *model));
  MILLRACE_RETURN_IF_ERROR(report_session("session on cpu", "cpu", model));
  MILLRACE_RETURN_IF_ERROR(report_native("native unit on cpu", "cpu", *model));
  fmt::print("oneDNN executes {} primitives for each job on cpu\n", primitives);
  return {};
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  const std::string model = argc > 1 ? argv[1] : "models/glyphs/glyphs.onnx";
  const millrace::Status status = millrace::bench::report_all(model);
  if (!status.ok()) fmt::print(stderr, "allocation_bench: {}\n", status.to_string());
  return status.ok() ? 0 : 1;
}
