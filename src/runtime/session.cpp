// How a session submits jobs: it reserves an entry of the job table and the callback, so that
// nothing can fail any more, and then tries the least busy unit until one accepts the job or all
// are full. The job's id is issued when it has its place.
#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/process/forked_child.h"
#include "check/check.h"
#include "device/faulty/faulty_device.h"
#include "queue/units/unit.h"
#include "queue/waiting/room.h"
#include "runtime/jobs/callback_sequencer.h"
#include "runtime/jobs/executor.h"
#include "runtime/jobs/job_sync.h"
#include "runtime/jobs/job_table.h"
#include "runtime/jobs/job_task.h"
#include "runtime/jobs/watched_job.h"
#include "runtime/units/bound_lanes.h"
#include "runtime/units/create_unit.h"

namespace millrace::runtime {
namespace {

// A session has at most this many units, or as many as lanes if there are more: each submit
// searches the units, and further ones would not run more jobs at a time.
constexpr uint32_t kMinUnitLimit = 64;

// Created once, so that a refusal allocates nothing, and never destroyed, since threads may submit
// while the process exits.
const Status& session_full() {
  static const Status* const made = new Status(
      StatusCode::kQueueFull, "max_concurrent_runs jobs are not completed: retry after one is");
  return *made;
}

Status session_closed() {
  return {StatusCode::kClosed, "the session is closed"};
}

// Returns the pinned lane of a session that is bound to a core; null for the lanes of the device.
std::shared_ptr<queue::Lanes> lanes_for(const std::optional<Placement>& placement,
                                        const ColumnMap& map) {
  if (!placement || !placement->start_column) return nullptr;
  return lane_bound_to(map.core_of(ColumnMap::group_of(*placement->start_column)));
}

}  // namespace

class Session::Impl final : public JobTask::Listener {
 public:
  Impl(ColumnClaimPtr columns, std::shared_ptr<Executor> executor, const SessionOptions& options)
      : columns_(std::move(columns)),
        executor_(std::move(executor)),
        acceptance_order_(executor_->device().acceptance_order(device::Work::kJob)),
        faults_(device::faults_of(executor_->device())),
        sequencer_(options.callback_order, options.name),
        jobs_(JobTable::kMaxUncollected, options.job_ids) {}

  // Units refer to the other members, so they are destroyed first.
  ~Impl() {
    if (!close()) wait_until_closed();
    units_.clear();
  }

  void begin_close();
  // Returns false if it was called before; then it has done nothing.
  bool close();
  Status make_units(const SessionOptions& options);

  const graph::CompiledModel& model() const noexcept { return executor_->model(); }
  uint32_t lane_count() const noexcept { return executor_->lanes().count(); }
  uint64_t accepted_jobs() const noexcept;
  BoundaryConversions conversions() const noexcept {
    return {converted_tensors_.load(std::memory_order_relaxed),
            converted_bytes_.load(std::memory_order_relaxed)};
  }

  Result<SessionJobId> submit(const JobBindings& bindings, JobCallback callback);
  Status execute(const JobBindings& bindings);
  Status wait(SessionJobId id, std::chrono::nanoseconds timeout) { return jobs_.wait(id, timeout); }

  void on_job_completed(Job* job, const queue::Completion& completion) noexcept override;
  void on_conversions(const BoundaryConversions& conversions) noexcept override;

 private:
  // The resources of one job: its entry in the table and its callback. They are reserved before a
  // unit is asked for a place, since a claimed place cannot be given back if memory runs out.
  // Releases them unless the job is issued.
  class Reservation {
   public:
    Reservation(Impl& session, JobCallback callback) noexcept
        : session_(session), callback_(std::move(callback)) {}
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    // Reserves the resources, unless that was done before. Throws std::bad_alloc.
    void make();
    // Makes a job of the entry, with the next id, which `unit` runs. Requirement: make() was
    // called.
    Job* issue(queue::Unit& unit) noexcept;

   private:
    Impl& session_;
    JobCallback callback_;
    // The resources that are reserved and not yet issued.
    Job* entry_ = nullptr;
    queue::PreparedCall prepared_;
  };

  Result<SessionJobId> submit_checked(const JobBindings& bindings, JobCallback callback);
  void watch(const JobBindings& bindings, SessionJobId id = 0,
             bool has_callback = false) const noexcept;
  queue::Unit* least_busy_unit() const noexcept;
  bool has_room() const noexcept;
  bool is_full() const noexcept;
  uint64_t completed_jobs() const noexcept;
  void wait_until_closed() noexcept;
  static Status as_session_status(const Status& status);
  static bool may_ask_again(queue::Unit& unit, const Status& refusal);

  const ColumnClaimPtr columns_;
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<queue::AcceptanceOrder> acceptance_order_;  // the device's; may be null
  const std::shared_ptr<device::FaultPlan> faults_;                 // likewise
  CallbackSequencer sequencer_;
  JobTable jobs_;
  queue::Room room_;  // execute() waits here for a place
  std::atomic<uint64_t> converted_tensors_{0}, converted_bytes_{0};
  std::atomic<bool> closed_{false};   // begin_close was called
  std::atomic<bool> closing_{false};  // close was called
  std::atomic<bool> ended_{false};    // close has returned
  // Together they have max_concurrent_runs places. Only they count the jobs in flight.
  std::vector<std::unique_ptr<queue::Unit>> units_;
};

void Session::Impl::begin_close() {
  closed_.store(true);
  for (const std::unique_ptr<queue::Unit>& unit : units_) unit->begin_close();
  room_.changed();
}

// While the callbacks are drained, all members still exist for callbacks that use the session.
bool Session::Impl::close() {
  if (closing_.exchange(true)) return false;
  begin_close();
  for (const std::unique_ptr<queue::Unit>& unit : units_) unit->close();
  sequencer_.drain();
  ended_.store(true);
  ended_.notify_all();
  return true;
}

// For the destructor, if close() was called before. A callback may still be inside close(); and if
// close() was called in a callback, it has not waited for the remaining ones.
void Session::Impl::wait_until_closed() noexcept {
  if (sequencer_.runs_on_this_thread()) return;
  ended_.wait(false);
  sequencer_.drain();
}

// Replaces the message about a closed unit, which the caller does not know, by one about the
// session.
Status Session::Impl::as_session_status(const Status& status) {
  return status.code() == StatusCode::kClosed ? session_closed() : status;
}

// Creates the units. Usually each has one place, so that no job waits for another while a lane is
// free. Units get more places if there are more places than max_lanes (a unit uses one lane at a
// time) or than the limit on units. There is only one unit, which runs jobs in the order of
// submission, for the program of a rank, since other ranks have the same order, and in latency
// mode, where jobs use all lanes one after another.
Status Session::Impl::make_units(const SessionOptions& options) {
  const size_t tensors = (model().inputs.size() + model().outputs.size()) * model().batch_size;
  const JobSync sync(options.sync_inputs, options.sync_outputs, options.name);
  const uint32_t places = options.max_concurrent_runs;
  MILLRACE_ASSIGN_OR_RETURN(const JobMode mode, job_mode_in_force(options.mode));
  const bool one_by_one = executor_->program().is_of_rank() || mode == JobMode::kLatency;
  const uint32_t most = one_by_one ? 1 : options.max_lanes;
  const uint32_t count = std::min({places, most, std::max(kMinUnitLimit, lane_count())});
  units_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    queue::UnitOptions unit;
    unit.name = fmt::format("{}/{}", model().name, i);
    unit.depth = places / count + (i < places % count ? 1 : 0);
    unit.make_task = [this, tensors, sync, profile = options.profile, mode] {
      return std::make_unique<JobTask>(tensors, this, sync, profile, mode);
    };
    unit.auto_reset = true;  // a job that fails does not affect others
    unit.watchdog = options.watchdog;
    MILLRACE_ASSIGN_OR_RETURN(
        units_.emplace_back(),
        create_unit(executor_->device(), device::Work::kJob, std::move(unit), &executor_->lanes()));
    if (executor_->program().is_of_rank()) MILLRACE_RETURN_IF_ERROR(units_.back()->expect_waits());
  }
  return {};
}

// The counters in the ids of a unit have no gaps, so the last one is the number of its jobs.
uint64_t Session::Impl::accepted_jobs() const noexcept {
  uint64_t jobs = 0;
  for (const std::unique_ptr<queue::Unit>& unit : units_)
    jobs += queue::counter_of(unit->last_submitted());
  return jobs;
}

uint64_t Session::Impl::completed_jobs() const noexcept {
  uint64_t jobs = 0;
  for (const std::unique_ptr<queue::Unit>& unit : units_)
    jobs += queue::counter_of(unit->last_completed());
  return jobs;
}

// Returns an idle unit if there is one, so that no job waits while a lane is free; otherwise the
// one with the fewest jobs that has a place; null if none has. Two threads may choose the same
// unit, which matters only for units with several places.
queue::Unit* Session::Impl::least_busy_unit() const noexcept {
  queue::Unit* least_busy = nullptr;
  uint32_t fewest = kMaxConcurrentRuns;
  for (const std::unique_ptr<queue::Unit>& unit : units_) {
    const uint32_t jobs = unit->in_flight();
    if (jobs == 0) return unit.get();
    if (jobs >= unit->depth() || jobs >= fewest) continue;
    fewest = jobs;
    least_busy = unit.get();
  }
  return least_busy;
}

bool Session::Impl::has_room() const noexcept {
  return std::ranges::any_of(
      units_, [](const std::unique_ptr<queue::Unit>& unit) { return unit->has_room(); });
}

// Returns true only if all units were full at the same time: no job has completed while the units
// were examined, so a unit that was full has stayed full.
bool Session::Impl::is_full() const noexcept {
  const uint64_t before = completed_jobs();
  return !has_room() && completed_jobs() == before;
}

Result<SessionJobId> Session::Impl::submit(const JobBindings& bindings, JobCallback callback) {
  MILLRACE_RETURN_IF_ERROR(executor_->check(bindings));
  if (callback) MILLRACE_RETURN_IF_ERROR(sequencer_.start());
  try {
    return submit_checked(bindings, std::move(callback));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "no memory for another job");
  }
}

// Returns whether to try again after a refusal, because another thread has taken the place, or the
// unit was degraded and this function has reset it. Sessions have no reset() for users, so they
// reset their units as soon as there is a lane again.
bool Session::Impl::may_ask_again(queue::Unit& unit, const Status& refusal) {
  if (refusal.code() == StatusCode::kQueueFull) return true;
  return refusal.code() == StatusCode::kUnitDegraded && unit.reset().ok();
}

// The job's id is issued once it has a place, so that a refusal leaves no gap. From then on the job
// belongs to the thread that completes it.
Result<SessionJobId> Session::Impl::submit_checked(const JobBindings& bindings,
                                                   JobCallback callback) {
  const bool has_callback = static_cast<bool>(callback);
  Reservation reservation(*this, std::move(callback));
  SessionJobId id = 0;
  queue::Unit* unit = nullptr;
  const auto fill = [&](queue::Task& task) {
    Job* const job = reservation.issue(*unit);
    id = job->id;
    watch(bindings, id, has_callback);
    static_cast<JobTask&>(task).fill(executor_, bindings, job);
  };
  if (faults_ != nullptr) MILLRACE_RETURN_IF_ERROR(faults_->admit_call());
  // If the device numbers its jobs, the lock gives their ids the same order.
  queue::AcceptanceOrder::Lock in_order;
  if (acceptance_order_ != nullptr) in_order = acceptance_order_->lock();
  for (;;) {
    if (closed_.load()) return session_closed();
    unit = least_busy_unit();
    if (unit == nullptr && is_full()) {
      emit(HookPoint::kRefused, 0, static_cast<uint64_t>(StatusCode::kQueueFull));
      return session_full();
    }
    if (unit == nullptr) continue;
    reservation.make();
    const Result<queue::SequenceId> sequence = unit->try_submit(fill);
    if (sequence.ok()) {
      if (hooks_observe(*sequence)) jobs_.note_sequence(id, *sequence);
      return id;
    }
    if (!may_ask_again(*unit, sequence.status())) return as_session_status(sequence.status());
  }
}

// Jobs of different units may run at the same time, and a program does not know which unit a job
// has.
void Session::Impl::watch(const JobBindings& bindings, SessionJobId id,
                          bool has_callback) const noexcept {
  if (!jobs_are_watched()) [[likely]]
    return;
  watch_job(model(), bindings,
            {.in_order_of_unit = false, .has_callback = has_callback, .shown_id = id});
}

// The status is returned directly, so the job has no entry in the table.
Status Session::Impl::execute(const JobBindings& bindings) {
  MILLRACE_RETURN_IF_ERROR(executor_->check(bindings));
  const check::SynchronousCall waits;
  bool accepted = false;
  const auto fill = [&](queue::Task& task) {
    accepted = true;
    watch(bindings);
    static_cast<JobTask&>(task).fill(executor_, bindings);
  };
  const auto lend = [&](queue::Task& task) {
    accepted = true;
    watch(bindings);
    static_cast<JobTask&>(task).lend(*executor_, bindings);
  };
  for (;;) {
    if (closed_.load()) return session_closed();
    queue::Unit* const unit = least_busy_unit();
    if (unit == nullptr) {
      room_.wait_until(kNoDeadline, [this] { return has_room() || closed_.load(); });
      continue;
    }
    const Status status = unit->try_execute(fill, lend);
    if (!accepted && may_ask_again(*unit, status)) continue;
    // This thread may have been woken for a place that it does not take.
    if (!accepted) room_.one_place_freed();
    return as_session_status(status);
  }
}

void Session::Impl::Reservation::make() {
  if (entry_ == nullptr) entry_ = session_.jobs_.reserve();
  if (callback_) prepared_ = session_.sequencer_.reserve(std::exchange(callback_, nullptr));
}

Session::Impl::Reservation::~Reservation() {
  if (entry_ != nullptr) session_.jobs_.release(entry_);
  if (prepared_) session_.sequencer_.release();
}

Job* Session::Impl::Reservation::issue(queue::Unit& unit) noexcept {
  Job* const job = std::exchange(entry_, nullptr);
  job->unit = &unit;  // before the job is in the table
  const auto issue_as = [&](CallbackSequencer::Ticket ticket) {
    session_.jobs_.issue(job, ticket);
  };
  if (prepared_)
    session_.sequencer_.expect(std::move(prepared_), issue_as);
  else
    issue_as(CallbackSequencer::kNoTicket);
  return job;
}

// The job's place is already free, so a thread that is notified here can submit the next job.
void Session::Impl::on_job_completed(Job* job, const queue::Completion& completion) noexcept {
  room_.one_place_freed();
  if (job == nullptr) return;  // a job of execute() has no entry in the table
  const SessionJobId id = job->id;
  const CallbackSequencer::Ticket ticket = job->ticket;
  bool dropped = false;
  const auto publish = [&] { dropped = jobs_.publish(job, completion); };
  if (ticket == CallbackSequencer::kNoTicket)
    publish();
  else
    sequencer_.complete(ticket, id, completion.status, publish);
  if (dropped) JobTable::log_dropped();
}

void Session::Impl::on_conversions(const BoundaryConversions& conversions) noexcept {
  converted_tensors_.fetch_add(conversions.tensors, std::memory_order_relaxed);
  converted_bytes_.fetch_add(conversions.bytes, std::memory_order_relaxed);
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<device::Device> device,
                                                 std::shared_ptr<const device::Program> program,
                                                 SessionOptions options) {
  if (device == nullptr || program == nullptr)
    return invalid_argument("a session needs a device and a program");
  if (options.max_concurrent_runs < 1 || options.max_concurrent_runs > kMaxConcurrentRuns)
    return invalid_argument(fmt::format("max_concurrent_runs is {}, outside 1 to {}",
                                        options.max_concurrent_runs, kMaxConcurrentRuns));
  if (options.max_lanes < 1)
    return invalid_argument("max_lanes is 0, but a session needs at least one lane");
  MILLRACE_ASSIGN_OR_RETURN(const ColumnMap map, ColumnMap::of_process());
  ColumnClaimPtr columns;
  if (options.placement) {
    MILLRACE_ASSIGN_OR_RETURN(columns, claim_columns(map, *options.placement,
                                                     fmt::format("{} (model \"{}\")", options.name,
                                                                 program->model().name)));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<Executor> executor,
      Executor::of(std::move(device), std::move(program), lanes_for(options.placement, map)));
  // Starts missing lanes first, since the number of units depends on the number of lanes.
  MILLRACE_RETURN_IF_ERROR(executor->lanes().fill_up());
  auto impl = std::make_unique<Impl>(std::move(columns), std::move(executor), options);
  MILLRACE_RETURN_IF_ERROR(impl->make_units(options));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Session::~Session() {
  if (is_forked_child()) static_cast<void>(impl_.release());
}

void Session::close() {
  if (!is_forked_child()) impl_->close();
}

void Session::begin_close() {
  if (!is_forked_child()) impl_->begin_close();
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

BoundaryConversions Session::conversions() const noexcept {
  return impl_->conversions();
}

Result<SessionJobId> Session::submit(const JobBindings& bindings, JobCallback callback) {
  if (is_forked_child()) return forked_status();
  return impl_->submit(bindings, std::move(callback));
}

Status Session::wait(SessionJobId id, std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  if (is_forked_child()) return forked_status();
  Status status =
      impl_->wait(id, std::clamp<milliseconds>(timeout, milliseconds::zero(), kLongestWait));
  if (status.code() == StatusCode::kInvalidJobId && check::on()) [[unlikely]]
    check::note_wait_for_unknown(id);
  return status;
}

Status Session::execute(const JobBindings& bindings) {
  if (is_forked_child()) return forked_status();
  return impl_->execute(bindings);
}

}  // namespace millrace::runtime
