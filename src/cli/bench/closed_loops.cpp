// Class Rounds issues the jobs of a multi-stream query together and waits for all of them; class
// Pipeline keeps the jobs of an offline run in flight. Both use the buffers of slot i for job i,
// modulo their number, so a slot is used again only after its last job has been collected.
#include "cli/bench/closed_loops.h"

#include <fmt/format.h>

#include <deque>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/progress.h"

namespace millrace::cli {
namespace {

constexpr std::chrono::milliseconds kForever = std::chrono::hours(24);

void show(Progress& progress, const Workload& workload, uint64_t jobs) {
  if (!workload.shows_progress) return;
  progress.update(workload.duration.count() == 0 ? fmt::format("{} of {} jobs", jobs, workload.jobs)
                                                 : fmt::format("{} jobs", jobs));
}

Status warm_up_alone(const Workload& workload) {
  const int64_t start_ns = now_ns();
  for (uint32_t i = 0; !workload.is_warm(i, now_ns() - start_ns); ++i) {
    const Status status = workload.session.execute(workload.slots[0].bindings());
    if (!status.ok()) return failed_in(Scenario::kSingleStream, i + 1, status);
  }
  return {};
}

// Runs queries of one job for every slot, all in flight at the same time.
class Rounds {
 public:
  explicit Rounds(const Workload& workload) : workload_(workload) {
    ids_.reserve(workload.slots.size());
  }

  // Runs one query. Returns when all of its jobs are done, also after a failure, since they use the
  // buffers of the slots.
  Status run() {
    const Status submitted = submit_all();
    Status first_failure;
    for (const runtime::SessionJobId id : ids_) {
      const Status status = workload_.session.wait(id, kForever);
      ++jobs_;
      if (first_failure.ok() && !status.ok())
        first_failure = failed_in(Scenario::kMultiStream, jobs_, status);
    }
    if (!first_failure.ok() || submitted.ok()) return first_failure;
    return failed_in(Scenario::kMultiStream, jobs_ + 1, submitted);
  }

  uint64_t jobs() const { return jobs_; }

 private:
  Status submit_all() {
    ids_.clear();
    for (const JobBuffers& slot : workload_.slots) {
      MILLRACE_ASSIGN_OR_RETURN(const auto id, workload_.session.submit(slot.bindings()));
      ids_.push_back(id);
    }
    return {};
  }

  const Workload& workload_;
  std::vector<runtime::SessionJobId> ids_;  // of the jobs of the last query
  uint64_t jobs_ = 0;                       // of all queries
};

// The jobs of an offline run that were submitted and not yet collected, oldest first.
class Pipeline {
 public:
  Pipeline(const Workload& workload, int64_t start_ns) : workload_(workload), start_ns_(start_ns) {}

  bool full() const { return pending_.size() == workload_.slots.size(); }
  bool empty() const { return pending_.empty(); }

  Status submit() {
    const JobBuffers& slot = workload_.slots[queries_.size() % workload_.slots.size()];
    workload_.enter(start_ns_);
    const int64_t issued_ns = now_ns();
    const auto id = workload_.session.submit(slot.bindings());
    if (!id.ok()) {
      workload_.leave();
      return failed_in(Scenario::kOffline, queries_.size() + 1, id.status());
    }
    pending_.push_back(*id);
    queries_.push_back({issued_ns - start_ns_, 0});
    return {};
  }

  Status collect() {
    const Status status = workload_.session.wait(pending_.front(), kForever);
    pending_.pop_front();
    workload_.leave();
    if (!status.ok()) return failed_in(Scenario::kOffline, collected_ + 1, status);
    Query& query = queries_[collected_++];
    query.latency_ns = now_ns() - start_ns_ - query.issued_ns;
    return {};
  }

  std::vector<Query> take_queries() { return std::move(queries_); }

 private:
  const Workload& workload_;
  int64_t start_ns_;
  std::deque<runtime::SessionJobId> pending_;
  std::vector<Query> queries_;
  size_t collected_ = 0;
};

}  // namespace

Status warm_up_together(const Workload& workload) {
  Rounds rounds(workload);
  const int64_t start_ns = now_ns();
  while (!workload.is_warm(rounds.jobs(), now_ns() - start_ns))
    MILLRACE_RETURN_IF_ERROR(rounds.run());
  return {};
}

Result<Measurement> run_single_stream(const Workload& workload) {
  MILLRACE_RETURN_IF_ERROR(warm_up_alone(workload));
  Measurement measured;
  measured.scenario = Scenario::kSingleStream;
  Progress progress(name_of(measured.scenario));
  const Meter meter(workload);
  while (!workload.complete(measured.jobs, meter.elapsed_ns())) {
    const int64_t issued_ns = meter.elapsed_ns();
    const Status status = workload.session.execute(workload.slots[0].bindings());
    if (!status.ok()) return failed_in(measured.scenario, measured.jobs + 1, status);
    measured.queries.push_back({issued_ns, meter.elapsed_ns() - issued_ns});
    show(progress, workload, ++measured.jobs);
  }
  meter.read(measured);
  return measured;
}

Result<Measurement> run_multi_stream(const Workload& workload) {
  MILLRACE_RETURN_IF_ERROR(warm_up_together(workload));
  Measurement measured;
  measured.scenario = Scenario::kMultiStream;
  Progress progress(name_of(measured.scenario));
  Rounds rounds(workload);
  const Meter meter(workload);
  while (!workload.complete(rounds.jobs(), meter.elapsed_ns())) {
    const int64_t issued_ns = meter.elapsed_ns();
    MILLRACE_RETURN_IF_ERROR(rounds.run());
    measured.queries.push_back({issued_ns, meter.elapsed_ns() - issued_ns});
    show(progress, workload, rounds.jobs());
  }
  measured.jobs = rounds.jobs();
  meter.read(measured);
  return measured;
}

Result<Measurement> run_offline(const Workload& workload) {
  MILLRACE_RETURN_IF_ERROR(warm_up_together(workload));
  Measurement measured;
  measured.scenario = Scenario::kOffline;
  Progress progress(name_of(measured.scenario));
  const Meter meter(workload);
  Pipeline pipeline(workload, meter.start_ns());
  while (!workload.complete(measured.jobs, meter.elapsed_ns())) {
    if (pipeline.full()) MILLRACE_RETURN_IF_ERROR(pipeline.collect());
    // Results are collected before a wait for other models, which is not part of their latency.
    while (!workload.may_issue() && !pipeline.empty()) MILLRACE_RETURN_IF_ERROR(pipeline.collect());
    MILLRACE_RETURN_IF_ERROR(pipeline.submit());
    show(progress, workload, ++measured.jobs);
  }
  while (!pipeline.empty()) MILLRACE_RETURN_IF_ERROR(pipeline.collect());
  meter.read(measured);
  measured.queries = pipeline.take_queries();
  return measured;
}

Result<Allocations> count_allocations(Scenario scenario, const Workload& workload) {
  constexpr uint64_t kJobs = 16;
  Allocations allocations;
  Rounds rounds(workload);
  Status status;
  AllocationTrace::start();
  if (scenario == Scenario::kSingleStream)
    for (; status.ok() && allocations.jobs < kJobs; ++allocations.jobs)
      status = workload.session.execute(workload.slots[0].bindings());
  else
    for (; status.ok() && allocations.jobs < kJobs; allocations.jobs = rounds.jobs())
      status = rounds.run();
  allocations.libraries = AllocationTrace::stop();
  MILLRACE_RETURN_IF_ERROR(status);
  return allocations;
}

}  // namespace millrace::cli
