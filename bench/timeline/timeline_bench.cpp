// Measures what recording a timeline costs: an event by itself, and jobs on the null device, which
// computes nothing, without a recording, with the flight recorder, and with a recording of
// everything.
//
//   timeline_bench          medians; repetitions of all rows alternate at random
//
// It needs two idle cores.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hooks.h"
#include "bench/queue/bound_job.h"
#include "bench/queue/one_node_model.h"
#include "device/registry.h"
#include "runtime/session.h"
#include "timeline/recorder.h"

namespace millrace::bench {
namespace {

enum class Kept : uint8_t { kNothing, kAffordable, kAll };

// Records while it exists.
class Recorded {
 public:
  explicit Recorded(Kept kept) : wanted_(kept != Kept::kNothing) {
    using timeline::Detail;
    if (kept == Kept::kAffordable)
      static_cast<void>(timeline::start_recording(kRecorderRoom, Detail::kAffordable));
    if (kept == Kept::kAll) static_cast<void>(timeline::start_recording());
  }
  ~Recorded() {
    if (wanted_) timeline::stop_recording();
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

 private:
  static constexpr size_t kRecorderRoom = 4096;

  const bool wanted_;
};

void emit_events(benchmark::State& state, Kept kept) {
  const Recorded recording(kept);
  uint64_t subject = 0;
  for (auto _ : state) emit(HookPoint::kStarted, ++subject);
}

struct Loaded {
  std::shared_ptr<device::Device> device = device::open_device("null", {.lanes = 1}).value();
  std::shared_ptr<const graph::CompiledModel> model =
      std::make_shared<const graph::CompiledModel>(one_node_model());
  std::unique_ptr<runtime::Session> session =
      runtime::Session::create(device, device->load(model).value(), {.max_concurrent_runs = 16})
          .value();
  BoundJob job{*model};
};

void execute(benchmark::State& state, Kept kept) {
  Loaded loaded;
  const Recorded recording(kept);
  const runtime::JobBindings bindings = loaded.job.bindings();
  for (auto _ : state) benchmark::DoNotOptimize(loaded.session->execute(bindings));
}

// Submits jobs, with up to 16 in flight, and waits for each.
void submit_and_wait(benchmark::State& state, Kept kept) {
  constexpr size_t kInFlight = 16;
  Loaded loaded;
  const Recorded recording(kept);
  const runtime::JobBindings bindings = loaded.job.bindings();
  std::deque<runtime::SessionJobId> jobs;
  const auto wait_for_first = [&] {
    benchmark::DoNotOptimize(loaded.session->wait(jobs.front(), std::chrono::hours(1)));
    jobs.pop_front();
  };
  for (auto _ : state) {
    if (jobs.size() == kInFlight) wait_for_first();
    jobs.push_back(loaded.session->submit(bindings).value());
  }
  while (!jobs.empty()) wait_for_first();
}

void register_rows() {
  using benchmark::RegisterBenchmark;
  const std::pair<const char*, Kept> rows[] = {
      {"", Kept::kNothing}, {"/flight_recorder", Kept::kAffordable}, {"/recorded", Kept::kAll}};
  for (const auto& [name, kept] : rows) {
    const std::string suffix = name;
    RegisterBenchmark(("event" + suffix).c_str(), emit_events, kept)->UseRealTime();
    RegisterBenchmark(("execute" + suffix).c_str(), execute, kept)->UseRealTime();
    RegisterBenchmark(("16_in_flight" + suffix).c_str(), submit_and_wait, kept)->UseRealTime();
  }
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  char repetitions[] = "--benchmark_repetitions=9";
  char alternating[] = "--benchmark_enable_random_interleaving=true";
  char medians[] = "--benchmark_report_aggregates_only=true";
  char minimum[] = "--benchmark_min_time=0.2";
  std::vector<char*> arguments = {argv[0], repetitions, alternating, medians, minimum};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  millrace::bench::register_rows();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
