// Each submit binds its arguments on the calling thread (Binder), then calls queue::Unit, which
// fills a task with the bindings.
#include "millrace/unit.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "api/binder.h"
#include "api/model_impl.h"
#include "api/unit_core.h"
#include "base/contained.h"
#include "base/polls.h"
#include "base/status.h"
#include "check/check.h"
#include "runtime/jobs/job_task.h"

namespace millrace {

using api::Binder;
using api::UnitCore;
using runtime::JobTask;
using std::chrono::nanoseconds;

namespace {

queue::SubmitOptions submit_options(JobArgs& args) noexcept {
  return {.callback = std::move(args.callback), .deadline = args.deadline};
}

nanoseconds time_until(Deadline deadline) {
  if (deadline == kNoDeadline) return nanoseconds::max();
  return std::max(deadline - std::chrono::steady_clock::now(), nanoseconds::zero());
}

// Jobs of which the program has no handle are not lost if it looks at the unit.
void note_unit_asked(const queue::Unit& unit) noexcept {
  if (check::on()) [[unlikely]]
    check::note_unit_asked(unit.id());
}

// Returns whether the jobs can be submitted in one step: they have no callbacks and one deadline.
bool alike(std::span<const JobArgs> args) noexcept {
  return std::ranges::all_of(args, [&](const JobArgs& job) {
    return !job.callback && job.deadline == args.front().deadline;
  });
}

}  // namespace

Unit::Unit(std::shared_ptr<UnitCore> core) noexcept : core_(std::move(core)) {}
Unit::Unit(Unit&&) noexcept = default;

Unit& Unit::operator=(Unit&& other) noexcept {
  if (this == &other) return *this;
  if (core_ != nullptr) close();
  core_ = std::move(other.core_);
  return *this;
}

Unit::~Unit() {
  if (core_ != nullptr) close();
}

void Unit::close() {
  core_->unit().close();
}

// Checks and binds one job, and calls `submit` with the function that fills a task with it.
template <class Submit>
Result<Job> Unit::submit_one(const Model& model, const JobArgs& args, Submit&& submit) {
  Binder binder;
  MILLRACE_RETURN_IF_ERROR(binder.add(core_->device(), model.impl_.get(), args));
  const Result<queue::SequenceId> id =
      submit([&](queue::Task& task) { binder.fill(static_cast<JobTask&>(task), *model.impl_, 0); });
  if (!id.ok()) return id.status();
  return Job(core_, *id);
}

Result<Job> Unit::submit(const Model& model, JobArgs args) {
  return submit_one(model, args, [&](auto&& fill) -> Result<queue::SequenceId> {
    if (core_->when_full() == WhenFull::kFail) MILLRACE_RETURN_IF_ERROR(core_->admit_call());
    return core_->unit().submit(fill, submit_options(args));
  });
}

Result<Job> Unit::try_submit(const Model& model, JobArgs args) {
  return submit_one(model, args, [&](auto&& fill) -> Result<queue::SequenceId> {
    MILLRACE_RETURN_IF_ERROR(core_->admit_call());
    return core_->unit().try_submit(fill, submit_options(args));
  });
}

Result<Job> Unit::submit_until(Deadline limit, const Model& model, JobArgs args) {
  return submit_one(model, args, [&](auto&& fill) {
    return core_->unit().submit_until(limit, fill, submit_options(args));
  });
}

Result<size_t> Unit::try_submit_n(const Model& model, std::span<const JobArgs> args,
                                  std::span<Job> jobs) {
  if (jobs.size() < args.size()) return invalid_argument("there are fewer handles than jobs");
  if (args.empty()) return size_t{0};
  Status bad;
  if (valid_jobs(model, args, bad) != args.size()) return bad;
  return alike(args) ? submit_alike(model, args, jobs) : submit_each(model, args, jobs);
}

// Returns how many jobs, from the first on, fit the model; `bad` becomes the error of the next one.
size_t Unit::valid_jobs(const Model& model, std::span<const JobArgs> args, Status& bad) {
  for (size_t i = 0; i < args.size(); ++i) {
    Binder binder;
    bad = binder.add(core_->device(), model.impl_.get(), args[i]);
    if (!bad.ok()) return i;
  }
  return args.size();
}

Result<size_t> Unit::submit_alike(const Model& model, std::span<const JobArgs> args,
                                  std::span<Job> jobs) {
  Binder binder;
  for (const JobArgs& job : args)
    MILLRACE_RETURN_IF_ERROR(binder.add(core_->device(), model.impl_.get(), job));
  const auto fill = [&](queue::Task& task, uint32_t index) {
    binder.fill(static_cast<JobTask&>(task), *model.impl_, index);
  };
  const Result<queue::SubmittedRange> range =
      core_->unit().try_submit_n(static_cast<uint32_t>(args.size()), fill, args.front().deadline);
  if (!range.ok()) return range.status();
  for (uint32_t i = 0; i < range->count; ++i) jobs[i] = Job(core_, range->first + i);
  return size_t{range->count};
}

Result<size_t> Unit::submit_each(const Model& model, std::span<const JobArgs> args,
                                 std::span<Job> jobs) {
  for (size_t i = 0; i < args.size(); ++i) {
    Result<Job> job = try_submit_copy(model, args[i]);
    if (!job.ok() && i == 0) return job.status();
    if (!job.ok()) return i;
    jobs[i] = *std::move(job);
  }
  return args.size();
}

// Submits a job of a group. Fault plans do not refuse groups: submit_n() would wait for room, find
// it and be refused again. Copying the arguments copies the callback, which may throw
// std::bad_alloc.
Result<Job> Unit::try_submit_copy(const Model& model, const JobArgs& args) {
  return contained([&] {
    JobArgs copy = args;
    return submit_one(model, copy, [&](auto&& fill) {
      return core_->unit().try_submit(fill, submit_options(copy));
    });
  });
}

Status Unit::submit_n(const Model& model, std::span<const JobArgs> args, std::span<Job> jobs) {
  if (jobs.size() < args.size()) return invalid_argument("there are fewer handles than jobs");
  Status bad;
  args = args.first(valid_jobs(model, args, bad));
  while (!args.empty()) {
    const Result<size_t> count =
        try_submit_n(model, args.first(std::min<size_t>(args.size(), depth())), jobs);
    if (count.ok()) {
      args = args.subspan(*count);
      jobs = jobs.subspan(*count);
      continue;
    }
    if (count.status().code() != StatusCode::kQueueFull) return count.status();
    MILLRACE_RETURN_IF_ERROR(wait_free(1, time_until(args.front().deadline)));
  }
  return bad;
}

Status Unit::execute(const Model& model, JobArgs args) {
  Binder binder;
  MILLRACE_RETURN_IF_ERROR(binder.add(core_->device(), model.impl_.get(), args));
  const auto fill = [&](queue::Task& task) {
    binder.fill(static_cast<JobTask&>(task), *model.impl_, 0);
  };
  const auto lend = [&](queue::Task& task) {
    binder.lend(static_cast<JobTask&>(task), *model.impl_);
  };
  queue::Unit& unit = core_->unit();
  const check::SynchronousCall waits;
  if (!args.callback && args.deadline == kNoDeadline) return unit.execute(fill, lend);
  const Result<queue::SequenceId> id = unit.submit_until(kNoDeadline, fill, submit_options(args));
  return id.ok() ? unit.wait(*id, nanoseconds::max()) : id.status();
}

std::optional<Status> Unit::execute_here(const Model& model, const JobArgs& args,
                                         nanoseconds longest) {
  if (args.callback || args.deadline != kNoDeadline || !core_->unit().callers_may_run(longest))
    return std::nullopt;
  Binder binder;
  if (!binder.add(core_->device(), model.impl_.get(), args).ok()) return std::nullopt;
  const auto fill = [&](queue::Task& task) {
    binder.fill(static_cast<JobTask&>(task), *model.impl_, 0);
  };
  const auto lend = [&](queue::Task& task) {
    binder.lend(static_cast<JobTask&>(task), *model.impl_);
  };
  const check::SynchronousCall waits;
  return core_->unit().execute_here(longest, fill, lend);
}

Status Unit::wait_free(uint32_t k, nanoseconds timeout) {
  note_unit_asked(core_->unit());
  return core_->unit().wait_free(k, timeout);
}
Status Unit::notify_free_fd(uint32_t k, int fd) {
  note_unit_asked(core_->unit());
  return core_->unit().notify_free_fd(k, fd);
}
Status Unit::notify_each_fd(int fd) {
  note_unit_asked(core_->unit());
  return core_->unit().notify_each_fd(fd);
}

JobId Unit::last_completed() const noexcept {
  note_unit_asked(core_->unit());
  return core_->unit().last_completed();
}
JobId Unit::last_submitted() const noexcept {
  return core_->unit().last_submitted();
}
bool Unit::is_completed(JobId id) const noexcept {
  note_unit_asked(core_->unit());
  const bool completed = core_->unit().is_completed(id);
  note_poll(id, completed);
  if (!completed && check::on()) [[unlikely]]
    check::note_poll_of_pending();
  return completed;
}

uint32_t Unit::in_flight() const noexcept {
  return core_->unit().in_flight();
}
uint32_t Unit::depth() const noexcept {
  return core_->unit().depth();
}
const std::string& Unit::name() const noexcept {
  return core_->name();
}

UnitState Unit::state() const noexcept {
  return core_->unit().state();
}
Status Unit::failure() const {
  return core_->unit().failure();
}
uint32_t Unit::generation() const noexcept {
  return core_->unit().generation();
}
UnitStatistics Unit::statistics() const noexcept {
  return core_->unit().statistics();
}
Status Unit::reset() {
  return core_->unit().reset();
}

}  // namespace millrace
