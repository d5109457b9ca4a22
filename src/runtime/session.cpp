#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/hooks.h"
#include "queue/unit.h"
#include "runtime/admission.h"
#include "runtime/bound_lanes.h"
#include "runtime/callback_sequencer.h"
#include "runtime/executor.h"
#include "runtime/job_sync.h"
#include "runtime/job_table.h"
#include "runtime/job_task.h"
#include "runtime/seats.h"

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

// Null stands for the lanes of the device.
std::shared_ptr<queue::Lanes> lanes_for(const ColumnMap& map, const Placement& placement) {
  if (!placement.start_column) return nullptr;
  return lane_bound_to(map.core_of(ColumnMap::group_of(*placement.start_column)));
}

// Whether an observer is registered for the events of base/hooks.h.
bool observed() noexcept {
  return hooks_internal::observer_count.load(std::memory_order_relaxed) != 0;
}

}  // namespace

class Session::Impl final : public Seats::Owner {
 public:
  Impl(ColumnClaimPtr columns, std::shared_ptr<Executor> executor, const SessionOptions& options)
      : columns_(std::move(columns)),
        executor_(std::move(executor)),
        acceptance_order_(executor_->device().acceptance_order(device::Work::kJob)),
        admission_(options.max_concurrent_runs),
        sequencer_(options.callback_order) {}

  // Units refer to the other members, so they go first.
  ~Impl() {
    close();
    seats_.clear();
  }

  void close();
  Status make_units(const SessionOptions& options);

  const graph::CompiledModel& model() const noexcept { return executor_->model(); }
  uint32_t lane_count() const noexcept { return executor_->lanes().count(); }
  uint64_t accepted_jobs() const noexcept;

  Result<SessionJobId> submit(const JobBindings& bindings, JobCallback callback);
  Status execute(const JobBindings& bindings);
  Status wait(SessionJobId id, std::chrono::nanoseconds timeout) { return jobs_.wait(id, timeout); }

 private:
  void on_job_completed(Seats& seats, Job* job,
                        const queue::Completion& completion) noexcept override;
  Result<Job*> issue_job(JobCallback callback);
  Seats& take_seat() noexcept;
  void leave(Seats& seats) noexcept;
  void undo_issue(Job* job);
  static Status in_own_name(Status status);

  const ColumnClaimPtr columns_;
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<queue::AcceptanceOrder> acceptance_order_;  // of the device; may be null
  Admission admission_;
  CallbackSequencer sequencer_;
  JobTable jobs_;
  std::atomic<bool> closed_{false};
  std::vector<std::unique_ptr<Seats>> seats_;
};

// While the callbacks are drained everything is still there for those that call the session.
void Session::Impl::close() {
  if (closed_.exchange(true)) return;
  for (const std::unique_ptr<Seats>& seats : seats_) seats->close();
  sequencer_.drain();
}

// The caller knows the session, not the unit that refused.
Status Session::Impl::in_own_name(Status status) {
  if (status.code() != StatusCode::kClosed) return status;
  return {StatusCode::kClosed, "the session is closed"};
}

// One place per unit, so that no job waits behind another while a lane is free; units only get more
// places when there are very many, or more than lanes to hold: a unit holds one lane at a time.
Status Session::Impl::make_units(const SessionOptions& options) {
  queue::Lanes& lanes = executor_->lanes();
  const size_t tensors = (model().inputs.size() + model().outputs.size()) * model().batch_size;
  const JobSync sync(options.sync_inputs, options.sync_outputs, options.name);
  const uint32_t places = options.max_concurrent_runs;
  const uint32_t count = std::min({places, options.max_lanes, kMaxUnits});
  for (uint32_t i = 0; i < count; ++i) {
    Seats& seats = *seats_.emplace_back(
        std::make_unique<Seats>(*this, places / count + (i < places % count ? 1 : 0)));
    MILLRACE_RETURN_IF_ERROR(seats.make_unit(executor_->device(), lanes,
                                             fmt::format("{}/{}", model().name, i), tensors, sync,
                                             options.profile, options.watchdog));
  }
  return {};
}

// The ids of a unit count without gaps.
uint64_t Session::Impl::accepted_jobs() const noexcept {
  uint64_t jobs = 0;
  for (const std::unique_ptr<Seats>& seats : seats_)
    jobs += queue::counter_of(seats->unit().last_submitted());
  return jobs;
}

Result<SessionJobId> Session::Impl::submit(const JobBindings& bindings, JobCallback callback) {
  MILLRACE_RETURN_IF_ERROR(executor_->check(bindings));
  if (callback) MILLRACE_RETURN_IF_ERROR(sequencer_.start());
  if (!admission_.try_enter()) return session_full();
  // Where the device numbers its jobs, their ids are in the same order.
  queue::AcceptanceOrder::Lock in_order;
  if (acceptance_order_ != nullptr) in_order = acceptance_order_->lock();
  Result<Job*> issued = issue_job(std::move(callback));
  if (!issued.ok()) {
    admission_.leave();
    return issued.status();
  }
  // Once it is in the unit, the job belongs to whoever completes it.
  Job* const job = *issued;
  const SessionJobId id = job->id;
  Seats& seats = take_seat();
  const Result<queue::SequenceId> sequence = seats.unit().try_submit(
      [&](queue::Task& task) { static_cast<JobTask&>(task).fill(executor_, bindings, job); });
  if (!sequence.ok()) {
    leave(seats);
    undo_issue(job);
    return in_own_name(sequence.status());
  }
  if (observed()) jobs_.note_sequence(id, *sequence);
  return id;
}

// The status comes back directly, so the job takes no part in the table. Its place is given back
// here: the caller may see the completion before the task is told.
Status Session::Impl::execute(const JobBindings& bindings) {
  MILLRACE_RETURN_IF_ERROR(executor_->check(bindings));
  admission_.enter();
  Seats& seats = take_seat();
  Status status = seats.unit().execute(
      [&](queue::Task& task) { static_cast<JobTask&>(task).fill(executor_, bindings); });
  leave(seats);
  return in_own_name(std::move(status));
}

// A place for an admitted job, in an idle unit where there is one. There is always a place, since
// units give theirs back before the admission counter does, but others may take it between the look
// at one unit and the next.
Seats& Session::Impl::take_seat() noexcept {
  for (uint32_t occupied = 0;; occupied = (occupied + 1) % seats_.front()->count()) {
    for (const std::unique_ptr<Seats>& seats : seats_)
      if (occupied < seats->count() && seats->try_take(occupied)) return *seats;
    if (occupied + 1 == seats_.front()->count()) std::this_thread::yield();
  }
}

void Session::Impl::leave(Seats& seats) noexcept {
  seats.give_back();
  admission_.leave();
}

// Undoes the issue of a job that no unit took.
void Session::Impl::undo_issue(Job* job) {
  const CallbackSequencer::Ticket ticket = job->ticket;
  jobs_.revoke(job);
  if (ticket != CallbackSequencer::kNoTicket) sequencer_.discard(ticket);
}

Result<Job*> Session::Impl::issue_job(JobCallback callback) {
  try {
    if (!callback) return jobs_.issue();
    return sequencer_.expect(std::move(callback), [this](CallbackSequencer::Ticket ticket) {
      return jobs_.issue(ticket);
    });
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "no memory for another job");
  }
}

// The place is free before anybody can learn that the job is complete, so that who was told may
// submit the next one.
void Session::Impl::on_job_completed(Seats& seats, Job* job,
                                     const queue::Completion& completion) noexcept {
  const SessionJobId id = job->id;
  const CallbackSequencer::Ticket ticket = job->ticket;
  leave(seats);
  bool dropped = false;
  const auto publish = [&] { dropped = jobs_.publish(job, completion); };
  if (ticket == CallbackSequencer::kNoTicket)
    publish();
  else
    sequencer_.complete(ticket, id, completion.status, publish);
  if (dropped) JobTable::log_dropped();
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<device::Device> device,
                                                 std::shared_ptr<const device::Program> program,
                                                 SessionOptions options) {
  if (device == nullptr || program == nullptr)
    return invalid_argument("a session takes a device and a program");
  if (options.max_concurrent_runs < 1 || options.max_concurrent_runs > kMaxConcurrentRuns)
    return invalid_argument(fmt::format("max_concurrent_runs is {}, outside 1 to {}",
                                        options.max_concurrent_runs, kMaxConcurrentRuns));
  if (options.max_lanes < 1) return invalid_argument("max_lanes is 0: jobs need one");
  MILLRACE_ASSIGN_OR_RETURN(const ColumnMap map, ColumnMap::of_process());
  MILLRACE_ASSIGN_OR_RETURN(
      ColumnClaimPtr columns,
      claim_columns(map, options.placement,
                    fmt::format("{} (model \"{}\")", options.name, program->model().name)));
  MILLRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<Executor> executor,
      Executor::of(std::move(device), std::move(program), lanes_for(map, options.placement)));
  auto impl = std::make_unique<Impl>(std::move(columns), std::move(executor), options);
  MILLRACE_RETURN_IF_ERROR(impl->make_units(options));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Session::~Session() = default;

void Session::close() {
  impl_->close();
}

const graph::CompiledModel& Session::model() const noexcept {
  return impl_->model();
}

uint32_t Session::lane_count() const noexcept {
  return impl_->lane_count();
}

uint64_t Session::accepted_jobs() const noexcept {
  return impl_->accepted_jobs();
}

Result<SessionJobId> Session::submit(const JobBindings& bindings, JobCallback callback) {
  return impl_->submit(bindings, std::move(callback));
}

Status Session::wait(SessionJobId id, std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  return impl_->wait(id, std::clamp<milliseconds>(timeout, milliseconds::zero(), kLongestWait));
}

Status Session::execute(const JobBindings& bindings) {
  return impl_->execute(bindings);
}

}  // namespace millrace::runtime
