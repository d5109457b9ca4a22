#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
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

Status session_full() {
  static const Status status(StatusCode::kQueueFull,
                             "max_concurrent_runs jobs are not completed: retry after one is");
  return status;
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
  Status place(const JobBindings& bindings, Issue&& issue);

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
  if (!admission_.try_enter()) return session_full();
  JobId id = 0;
  MILLRACE_RETURN_IF_ERROR(place(bindings, [&] {
    Job* job = issue_job(std::move(callback));
    id = job->id;
    return job;
  }));
  return id;
}

Status Session::Impl::execute(const JobBindings& bindings) {
  MILLRACE_RETURN_IF_ERROR(executor_->check(bindings));
  admission_.enter();
  Job* job = nullptr;
  MILLRACE_RETURN_IF_ERROR(place(bindings, [&] { return job = jobs_.issue_held(); }));
  return jobs_.finish(job);
}

// Gives an admitted job to the first unit with room, idle units first. There is always one, but
// others may take it between the look and the submit, and a unit may still be about to let go of a
// completed job.
template <class Issue>
Status Session::Impl::place(const JobBindings& bindings, Issue&& issue) {
  const auto fill = [&](queue::Task& task) { static_cast<JobTask&>(task).fill(bindings, issue()); };
  for (uint32_t occupied = 0;; occupied = (occupied + 1) % units_.front()->depth()) {
    for (const std::unique_ptr<queue::Unit>& unit : units_) {
      if (unit->in_flight() > occupied) continue;
      const Result<queue::SequenceId> sequence = unit->submit(fill);
      if (sequence.ok()) return {};
      if (sequence.status().code() == StatusCode::kQueueFull) continue;
      admission_.leave();
      return sequence.status();
    }
    std::this_thread::yield();
  }
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
  auto impl = std::make_shared<Impl>(std::move(executor), options);
  MILLRACE_RETURN_IF_ERROR(impl->make_units(options));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Session::~Session() = default;

const graph::CompiledModel& Session::model() const noexcept {
  return impl_->model();
}

Result<JobId> Session::submit(const JobBindings& bindings, JobCallback callback) {
  return impl_->submit(bindings, std::move(callback));
}

Status Session::wait(JobId id, std::chrono::milliseconds timeout) {
  // A year stands for everything longer, which nanoseconds may be unable to express.
  return impl_->wait(id,
                     std::min(timeout, std::chrono::milliseconds(std::chrono::hours(24 * 365))));
}

Status Session::execute(const JobBindings& bindings) {
  return impl_->execute(bindings);
}

}  // namespace millrace::runtime
