#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "queue/unit.h"
#include "runtime/admission.h"
#include "runtime/callback_sequencer.h"
#include "runtime/executor.h"
#include "runtime/job_table.h"
#include "runtime/job_task.h"

namespace millrace::runtime {
namespace {

// More units would be looked through for nothing: there are never as many lanes.
constexpr uint32_t kMaxUnits = 64;

// Made once, so that a refusal allocates nothing; never destroyed, since threads may submit while
// the process exits.
const Status& session_full() {
  static const Status* const made = new Status(
      StatusCode::kQueueFull, "max_concurrent_runs jobs are not completed: retry after one is");
  return *made;
}

}  // namespace

class Session::Impl final : public JobTask::Listener {
 public:
  Impl(std::shared_ptr<Executor> executor, const SessionOptions& options)
      : executor_(std::move(executor)),
        admission_(options.max_concurrent_runs),
        sequencer_(options.callback_order) {}

  // Units refer to the other members, so they go first.
  ~Impl() {
    units_.clear();
    sequencer_.drain();
  }

  Status make_units(const SessionOptions& options);

  const graph::CompiledModel& model() const noexcept { return executor_->model(); }

  Result<JobId> submit(const JobBindings& bindings, JobCallback callback);
  Status execute(const JobBindings& bindings);
  Status wait(JobId id, std::chrono::nanoseconds timeout) { return jobs_.wait(id, timeout); }

 private:
  void on_job_complete(Job* job, const queue::Completion& completion) noexcept override;
  Job* issue_job(JobCallback callback);
  template <class Issue>
  Result<Job*> issue_admitted(Issue&& issue);
  Status place(const JobBindings& bindings, Job* job);
  void withdraw(Job* job);

  const std::shared_ptr<Executor> executor_;
  Admission admission_;
  CallbackSequencer sequencer_;
  JobTable jobs_;
  std::vector<std::unique_ptr<queue::Unit>> units_;
};

// One place per unit, so that no job waits behind another while a lane is free; units only get more
// places when there are very many.
Status Session::Impl::make_units(const SessionOptions& options) {
  queue::Lanes& lanes = executor_->device().lanes();
  const uint32_t places = options.max_concurrent_runs;
  const uint32_t count = std::min(places, kMaxUnits);
  for (uint32_t i = 0; i < count; ++i) {
    queue::UnitOptions unit;
    unit.name = fmt::format("{}/{}", model().name, i);
    unit.depth = places / count + (i < places % count ? 1 : 0);
    const auto last = std::make_shared<queue::Completion>();
    unit.on_complete = [last](const queue::Completion& completion) { *last = completion; };
    unit.make_task = [this, last] { return std::make_unique<JobTask>(*executor_, *this, last); };
    MILLRACE_ASSIGN_OR_RETURN(units_.emplace_back(), queue::Unit::create(lanes, std::move(unit)));
  }
  return {};
}

Result<JobId> Session::Impl::submit(const JobBindings& bindings, JobCallback callback) {
  MILLRACE_RETURN_IF_ERROR(executor_->check(bindings));
  if (callback) MILLRACE_RETURN_IF_ERROR(sequencer_.start());
  if (!admission_.try_enter()) return session_full();
  MILLRACE_ASSIGN_OR_RETURN(Job* const job,
                            issue_admitted([&] { return issue_job(std::move(callback)); }));
  const JobId id = job->id;
  if (Status placed = place(bindings, job); !placed.ok()) {
    withdraw(job);
    return placed;
  }
  return id;
}

Status Session::Impl::execute(const JobBindings& bindings) {
  MILLRACE_RETURN_IF_ERROR(executor_->check(bindings));
  admission_.enter();
  MILLRACE_ASSIGN_OR_RETURN(Job* const job, issue_admitted([&] { return jobs_.issue_held(); }));
  if (const Status placed = place(bindings, job); !placed.ok()) {
    admission_.leave();
    jobs_.complete(job, {0, placed});
  }
  return jobs_.finish(job);
}

// Issues the job of an admitted call, or gives the place back.
template <class Issue>
Result<Job*> Session::Impl::issue_admitted(Issue&& issue) {
  try {
    return issue();
  } catch (const std::bad_alloc&) {
    admission_.leave();
    return Status(StatusCode::kOutOfMemory, "no memory for another job");
  }
}

// Gives an admitted job to the first unit with room, idle units first. There is always one, but
// others may take it between the look and the submit, and a unit may still be about to let go of a
// completed job. Once placed, the job belongs to whoever completes it.
Status Session::Impl::place(const JobBindings& bindings, Job* job) {
  const auto fill = [&](queue::Task& task) noexcept {
    static_cast<JobTask&>(task).fill(bindings, job);
  };
  for (uint32_t occupied = 0;; occupied = (occupied + 1) % units_.front()->depth()) {
    for (const std::unique_ptr<queue::Unit>& unit : units_) {
      if (unit->in_flight() > occupied) continue;
      const Result<queue::SequenceId> sequence = unit->submit(fill);
      if (sequence.ok()) return {};
      if (sequence.status().code() != StatusCode::kQueueFull) return sequence.status();
    }
    std::this_thread::yield();
  }
}

// Undoes the admission and the issue of a job that could not be placed.
void Session::Impl::withdraw(Job* job) {
  const CallbackSequencer::Ticket ticket = job->ticket;
  admission_.leave();
  jobs_.withdraw(job);
  if (ticket != CallbackSequencer::kNoTicket) sequencer_.withdraw(ticket);
}

Job* Session::Impl::issue_job(JobCallback callback) {
  if (!callback) return jobs_.issue();
  return sequencer_.expect(std::move(callback), [this](CallbackSequencer::Ticket ticket) {
    return jobs_.issue(ticket);
  });
}

// The place is free before anybody can learn that the job is complete, so that who was told may
// submit the next one.
void Session::Impl::on_job_complete(Job* job, const queue::Completion& completion) noexcept {
  const JobId id = job->id;
  const CallbackSequencer::Ticket ticket = job->ticket;
  admission_.leave();
  jobs_.complete(job, completion);
  if (ticket != CallbackSequencer::kNoTicket) sequencer_.complete(ticket, id, completion.status);
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<device::Device> device,
                                                 std::shared_ptr<const device::Program> program,
                                                 SessionOptions options) {
  if (device == nullptr || program == nullptr)
    return invalid_argument("a session takes a device and a program");
  if (options.max_concurrent_runs < 1 || options.max_concurrent_runs > kMaxConcurrentRuns)
    return invalid_argument(fmt::format("max_concurrent_runs is {}, outside 1 to {}",
                                        options.max_concurrent_runs, kMaxConcurrentRuns));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Executor> executor,
                            Executor::of(std::move(device), std::move(program)));
  auto impl = std::make_unique<Impl>(std::move(executor), options);
  MILLRACE_RETURN_IF_ERROR(impl->make_units(options));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Session::~Session() = default;

const graph::CompiledModel& Session::model() const noexcept {
  return impl_->model();
}

Result<JobId> Session::submit(const JobBindings& bindings, JobCallback callback) {
  return impl_->submit(bindings, std::move(callback));
}

Status Session::wait(JobId id, std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  return impl_->wait(id, std::clamp<milliseconds>(timeout, milliseconds::zero(), kLongestWait));
}

Status Session::execute(const JobBindings& bindings) {
  return impl_->execute(bindings);
}

}  // namespace millrace::runtime
