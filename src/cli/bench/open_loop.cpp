// The schedule is made before the run. One thread issues the jobs, each at its time and with the
// buffers of a free slot; the callbacks record the latencies and give the slots back.
#include "cli/bench/open_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/bench/closed_loops.h"
#include "cli/bench/ideal_queue.h"
#include "cli/bench/percentiles.h"
#include "cli/bench/poisson_arrivals.h"
#include "cli/progress.h"
#include "runtime/jobs/job_times.h"

namespace millrace::cli {
namespace {

// Limits the memory: a job takes 40 bytes in the schedule and the measurements, and some more while
// these are evaluated.
constexpr uint32_t kMostJobs = 10'000'000;

// How soon the end of a run is seen that the user wants, while no job arrives.
constexpr int64_t kLongestSleepNs = 50'000'000;

// Returns the times at which the jobs are to be issued, in nanoseconds since the start.
Result<std::vector<int64_t>> schedule_of(const Workload& workload, const ServerLoad& load) {
  const double seconds = std::chrono::duration<double>(workload.duration).count();
  if (std::max<double>(load.per_second * seconds, workload.jobs) > kMostJobs)
    return invalid_argument(fmt::format(
        "the server scenario runs at most {} jobs: lower the rate, --duration or -n", kMostJobs));
  PoissonArrivals arrivals(load.per_second, load.seed);
  std::vector<int64_t> schedule;
  for (int64_t at = arrivals.next_ns(); !workload.complete(schedule.size(), at);
       at = arrivals.next_ns())
    schedule.push_back(at);
  return schedule;
}

// The jobs of one run. One thread calls issue_all() and wait_for_all(); end() runs in the callbacks
// of jobs, and give_back() in both.
class OpenLoop {
 public:
  OpenLoop(const Workload& workload, std::vector<int64_t> schedule)
      : workload_(workload),
        schedule_(std::move(schedule)),
        latencies_ns_(schedule_.size()),
        service_times_ns_(schedule_.size()),
        times_(workload.slots.size()) {
    for (size_t slot = 0; slot < times_.size(); ++slot) {
      times_[slot] = std::make_shared<runtime::JobTimes>();
      free_slots_.push_back(slot);
    }
  }

  // Issues all jobs, or those before the first failure or before the user ends the run, but one at
  // least. The jobs that are left out do not count.
  void issue_all(int64_t start_ns) {
    start_ns_ = start_ns;
    Progress progress(name_of(Scenario::kServer));
    for (size_t job = 0; job < schedule_.size(); ++job) {
      if (workload_.shows_progress)
        progress.update(fmt::format("{} of {} jobs", job, schedule_.size()));
      if (!wait_for_arrival(job)) return;
      const auto slot = take_slot();
      if (!slot || !submit(job, *slot)) return;
      issued_ = job + 1;
    }
  }

  Status wait_for_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return free_slots_.size() == times_.size(); });
    return first_failure_;
  }

  // These are of the jobs that were issued, when all of them are done.
  std::span<const int64_t> schedule() const { return {schedule_.data(), issued_}; }
  std::span<const int64_t> latencies_ns() const { return {latencies_ns_.data(), issued_}; }
  std::span<const int64_t> service_times_ns() const { return {service_times_ns_.data(), issued_}; }

 private:
  bool is_ended() const { return workload_.ended != nullptr && *workload_.ended; }

  // Waits until the job arrives. Returns false if the run ends before. The first job arrives then.
  bool wait_for_arrival(size_t job) {
    for (int64_t now = now_ns(); now < start_ns_ + schedule_[job]; now = now_ns()) {
      if (is_ended() && job > 0) return false;
      if (is_ended()) schedule_[job] = now - start_ns_;
      sleep_until_ns(std::min(start_ns_ + schedule_[job], now + kLongestSleepNs));
    }
    return job == 0 || !is_ended();
  }

  // Waits until a slot is free and takes it; nothing after a failure.
  std::optional<size_t> take_slot() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !free_slots_.empty(); });
    if (!first_failure_.ok()) return std::nullopt;
    const size_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }

  bool submit(size_t job, size_t slot) {
    workload_.enter(start_ns_);
    runtime::JobBindings bindings = workload_.slots[slot].bindings();
    bindings.times = times_[slot];
    const auto id = workload_.session.submit(
        bindings,
        [this, job, slot](uint64_t id, const Status& status) { end(job, slot, id, status); });
    if (!id.ok()) give_back(job, slot, id.status());
    return id.ok();
  }

  void end(size_t job, size_t slot, uint64_t id, const Status& status) {
    latencies_ns_[job] = now_ns() - start_ns_ - schedule_[job];
    service_times_ns_[job] = times_[slot]->ended() - times_[slot]->started();
    // The session would keep the result until it is collected.
    const auto collected = workload_.session.wait(static_cast<runtime::SessionJobId>(id),
                                                  std::chrono::milliseconds(0));
    give_back(job, slot, status.ok() ? collected : status);
  }

  // Notifies under the lock: once the last slot is back, the object may be gone.
  void give_back(size_t job, size_t slot, const Status& status) {
    workload_.leave();
    const std::lock_guard lock(mutex_);
    if (!status.ok() && first_failure_.ok())
      first_failure_ = failed_in(Scenario::kServer, job + 1, status);
    free_slots_.push_back(slot);
    changed_.notify_one();
  }

  const Workload& workload_;
  std::vector<int64_t> schedule_;
  size_t issued_ = 0;
  // By job; an element is written by the callback of its job only.
  std::vector<int64_t> latencies_ns_, service_times_ns_;
  std::vector<std::shared_ptr<runtime::JobTimes>> times_;  // by slot
  int64_t start_ns_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> free_slots_;
  Status first_failure_;
};

std::vector<double> in_ms(std::span<const int64_t> times_ns) {
  std::vector<double> times;
  times.reserve(times_ns.size());
  for (const int64_t ns : times_ns) times.push_back(static_cast<double>(ns) * 1e-6);
  return times;
}

ServerFigures figures_of(const OpenLoop& loop, const ServerLoad& load, uint32_t servers) {
  ServerFigures figures{.per_second = load.per_second, .seed = load.seed, .servers = servers};
  figures.service_ms = distribution_of(in_ms(loop.service_times_ns())).median;
  figures.ideal_p99_ms =
      distribution_of(in_ms(ideal_latencies_ns(loop.schedule(), loop.service_times_ns(), servers)))
          .p99;
  return figures;
}

}  // namespace

Result<Measurement> run_server(const Workload& workload, const ServerLoad& load) {
  MILLRACE_ASSIGN_OR_RETURN(auto schedule, schedule_of(workload, load));
  MILLRACE_RETURN_IF_ERROR(warm_up_together(workload));
  Measurement measured;
  measured.scenario = Scenario::kServer;
  OpenLoop loop(workload, std::move(schedule));
  const Meter meter(workload);
  loop.issue_all(meter.start_ns());
  MILLRACE_RETURN_IF_ERROR(loop.wait_for_all());
  meter.read(measured);
  measured.jobs = loop.schedule().size();
  measured.queries.reserve(measured.jobs);
  for (size_t job = 0; job < measured.jobs; ++job)
    measured.queries.push_back({loop.schedule()[job], loop.latencies_ns()[job]});
  measured.server = figures_of(loop, load, workload.session.lane_count());
  return measured;
}

Result<Measurement> measure(Scenario scenario, const Workload& workload, const ServerLoad& load) {
  switch (scenario) {
    case Scenario::kSingleStream:
      return run_single_stream(workload);
    case Scenario::kMultiStream:
      return run_multi_stream(workload);
    case Scenario::kOffline:
      return run_offline(workload);
    case Scenario::kServer:
      break;
  }
  return run_server(workload, load);
}

}  // namespace millrace::cli
