#include "cli/bench/together/run_together.h"

#include <fmt/format.h>

#include <chrono>
#include <future>

#include "cli/bench/closed_loops.h"
#include "cli/bench/open_loop.h"
#include "cli/bench/together/precedence.h"
#include "cli/progress.h"

namespace millrace::cli {
namespace {

Result<Measurement> measure_load(const Workload& workload, double per_second, uint64_t seed) {
  if (per_second > 0) return run_server(workload, {.per_second = per_second, .seed = seed});
  return run_offline(workload);
}

// Waits for all runs, which end by themselves, and shows that they have not ended yet.
void wait_for_all(const std::vector<std::future<Result<Measurement>>>& runs) {
  Progress progress("bench");
  for (const auto& run : runs)
    while (run.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
      progress.update(fmt::format("{} models", runs.size()));
}

}  // namespace

Result<SharedRun> run_together(const std::vector<SharedLoad>& loads, uint64_t seed) {
  for (const SharedLoad& load : loads) MILLRACE_RETURN_IF_ERROR(warm_up_together(load.workload));
  Precedence precedence;
  const Meter meter(loads.front().workload);
  std::vector<std::future<Result<Measurement>>> runs;
  for (size_t i = 0; i < loads.size(); ++i) {
    runs.push_back(std::async(std::launch::async, [&, i] {
      Workload workload = loads[i].workload;
      workload.warmup = 0;
      workload.shows_progress = false;
      workload.precedence = &precedence;
      workload.priority = loads[i].priority;
      return measure_load(workload, loads[i].per_second, seed + i);
    }));
  }
  wait_for_all(runs);
  Measurement whole;
  meter.read(whole);
  SharedRun shared{
      .models = {}, .seconds = whole.seconds, .processor_seconds = whole.processor_seconds};
  for (auto& run : runs) {
    MILLRACE_ASSIGN_OR_RETURN(Measurement measured, run.get());
    shared.models.push_back(std::move(measured));
  }
  return shared;
}

}  // namespace millrace::cli
