#include "tests/soak/worker.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <coroutine>
#include <exception>
#include <new>
#include <utility>

#include "base/unique_fd.h"

namespace millrace::soak {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How many uncollected jobs a worker keeps.
constexpr size_t kMostHeld = 16;

struct Coroutine {
  struct promise_type {
    Coroutine get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

Coroutine collect_later(Job job, std::shared_ptr<Record> record, RunStatistics& statistics) {
  statistics.coroutines.fetch_add(1);
  record->collected(co_await job);
  statistics.coroutines.fetch_sub(1);
}

JobCallback recording_callback(const World& world, CallbackCheck& callbacks,
                               std::shared_ptr<Record> record) {
  return [&failing = world.failing, &callbacks, record = std::move(record)](JobId id,
                                                                            const Status& status) {
    const test::Spared own(failing);
    callbacks.called(id);
    record->called(status);
  };
}

// In the callback of another job.
void submit_next(const World& world, CallbackCheck& callbacks, Unit& unit) {
  JobArgs next = world.args;
  next.callback = recording_callback(world, callbacks, std::make_shared<Record>(world.statistics));
  Result<Job> submitted = unit.try_submit(world.model, next);
  if (!submitted.ok()) return world.statistics.was_refused(submitted.status());
  world.statistics.submitted.fetch_add(1);
  callbacks.accepted();
  submitted->detach();
}

}  // namespace

void Worker::run(const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_relaxed)) {
    try {
      step();
    } catch (const std::bad_alloc&) {  // where allocations are made to fail
      world_.statistics.own_failures.fetch_add(1);
    }
  }
  for (Held& held : held_) collect(held);
  held_.clear();
}

void Worker::step() {
  const uint64_t choice = below(100);
  if (choice < 60 || in_storm())
    submit_one();
  else if (choice < 70)
    submit_several();
  else if (choice < 85)
    execute();
  else if (choice < 87)
    use_own_unit();
  else if (choice < 90)
    reset_one();
  else
    wait_for_some();
}

// In a storm, any but the first, which does not give up hung jobs.
SharedUnit& Worker::any_unit() {
  const uint64_t first = in_storm() ? 1 : 0;
  return world_.units[first + below(world_.units.size() - first)];
}

// A job whose callback records its status and sometimes submits another job.
JobArgs Worker::random_job(CallbackCheck& callbacks, const std::shared_ptr<Record>& record,
                           Unit* again) {
  JobArgs job = world_.args;
  if (below(5) == 0) job.deadline = steady_clock::now() + up_to(milliseconds(3));
  job.callback = recording_callback(world_, callbacks, record);
  if (again == nullptr || below(10) != 0) return job;
  job.callback = [first = std::move(job.callback), world = world_, &callbacks, again](
                     JobId id, const Status& status) {
    first(id, status);
    submit_next(world, callbacks, *again);
  };
  return job;
}

void Worker::accepted(CallbackCheck& callbacks) {
  world_.statistics.submitted.fetch_add(1);
  callbacks.accepted();
}

void Worker::refused(Unit& unit, const Status& status) {
  world_.statistics.was_refused(status);
  if (status.code() == StatusCode::kUnitDegraded && below(4) == 0) {
    world_.statistics.resets.fetch_add(1);
    static_cast<void>(unit.reset());
  }
}

void Worker::submit_one() {
  SharedUnit& shared = any_unit();
  const auto record = std::make_shared<Record>(world_.statistics);
  const JobArgs args = random_job(shared.callbacks, record, &shared.unit);
  const auto submit = [&] {
    switch (below(3)) {
      case 0:
        return shared.unit.try_submit(world_.model, args);
      case 1:
        return shared.unit.submit_until(steady_clock::now() + up_to(milliseconds(1)), world_.model,
                                        args);
      default:
        return shared.unit.submit(world_.model, args);
    }
  };
  Result<Job> job = submit();
  if (!job.ok()) return refused(shared.unit, job.status());
  accepted(shared.callbacks);
  dispose({*std::move(job), record});
}

void Worker::submit_several() {
  SharedUnit& shared = any_unit();
  std::vector<std::shared_ptr<Record>> records;
  std::vector<JobArgs> args;
  for (uint64_t left = 1 + below(4); left > 0; --left) {
    records.push_back(std::make_shared<Record>(world_.statistics));
    args.push_back(random_job(shared.callbacks, records.back(), nullptr));
  }
  std::vector<Job> jobs(args.size());
  const Result<size_t> taken = shared.unit.try_submit_n(world_.model, args, jobs);
  if (!taken.ok()) return refused(shared.unit, taken.status());
  for (size_t i = 0; i < *taken; ++i) accepted(shared.callbacks);
  for (size_t i = 0; i < *taken; ++i) dispose({std::move(jobs[i]), records[i]});
}

void Worker::execute() {
  const Status status = world_.executing.unit.execute(world_.model, world_.args);
  switch (status.code()) {
    case StatusCode::kUnitDegraded:
    case StatusCode::kOutOfMemory:
      world_.statistics.refused_or_failed.fetch_add(1);
      return refused(world_.executing.unit, status);
    default:
      world_.statistics.executed.fetch_add(1);
      count(world_.statistics.collected, status.code());
  }
}

// Creates a unit, and closes or destroys it with jobs in flight.
void Worker::use_own_unit() {
  const bool auto_reset = below(2) == 0;
  UnitOptions options{.name = "own", .depth = 4, .auto_reset = auto_reset};
  if (below(2) == 0) options.watchdog = milliseconds(10);
  if (below(2) == 0) options.close_patience = milliseconds(5);
  CallbackCheck callbacks(world_.statistics, options.callback_order);
  std::vector<Held> own;
  {
    Result<Unit> unit = world_.device.create_unit(options);
    if (!unit.ok()) return world_.statistics.was_refused(unit.status());
    for (uint64_t left = below(8); left > 0; --left) {
      const auto record = std::make_shared<Record>(world_.statistics);
      Result<Job> job = unit->submit(world_.model, random_job(callbacks, record, nullptr));
      if (!job.ok()) {
        refused(*unit, job.status());
        continue;
      }
      accepted(callbacks);
      own.push_back({*std::move(job), record});
    }
    if (below(2) == 0) unit->close();
    world_.statistics.units_closed.fetch_add(1);
  }
  world_.statistics.expect(callbacks.is_complete(callbacks.accepted_count()),
                           "a closed unit has not called every callback");
  for (Held& held : own) collect(held);
}

void Worker::reset_one() {
  Unit& unit = any_unit().unit;
  if (unit.state() != UnitState::kDegraded) return;
  world_.statistics.resets.fetch_add(1);
  static_cast<void>(unit.reset());
}

// Gets rid of a job's handle in one of several ways, most of which collect its result.
void Worker::dispose(Held held) {
  switch (below(8)) {
    case 0:
      return held.job.detach();
    case 1:
      return;  // the handle waits
    case 2:
      collect_later(std::move(held.job), held.record, world_.statistics);
      return;
    case 3:
      return cancel(held);
    case 4: {
      const UniqueFd fd(::eventfd(0, EFD_CLOEXEC));
      if (fd && held.job.notify_fd(fd.get()).ok()) world_.statistics.event_fds.fetch_add(1);
      break;
    }
    case 5:
      if (const Status status = held.job.wait(up_to(milliseconds(1)));
          status.code() != StatusCode::kPending)
        return held.record->collected(status);
      break;
    default:
      break;
  }
  held_.push_back(std::move(held));
  if (held_.size() > kMostHeld) wait_for_some();
}

// The outcome of cancel must match the status of the job.
void Worker::cancel(Held& held) {
  const Result<CancelOutcome> outcome = held.job.cancel(up_to(microseconds(200)));
  const Status status = held.job.wait();
  held.record->collected(status);
  if (world_.statistics.may_forget && status.code() == StatusCode::kInvalidJobId) return;
  if (!outcome.ok()) {
    world_.statistics.expect(outcome.status().code() == StatusCode::kPending, "cancel failed");
    world_.statistics.cancel_pending.fetch_add(1);
    return;
  }
  world_.statistics.cancelled[static_cast<size_t>(*outcome)].fetch_add(1);
  const bool cancelled = status.code() == StatusCode::kCancelled;
  world_.statistics.expect(cancelled == (*outcome != CancelOutcome::kTooLate),
                           "the outcome of cancel does not match the job's status");
}

void Worker::collect(Held& held) {
  held.record->collected(held.job.wait());
}

// Collects what is completed, waiting for at least one job.
void Worker::wait_for_some() {
  if (held_.empty()) return;
  std::vector<Job*> jobs;
  for (Held& held : held_) jobs.push_back(&held.job);
  const Status waited = below(8) == 0 ? wait_all(jobs, std::chrono::nanoseconds::max())
                                      : wait_any(jobs, std::chrono::nanoseconds::max()).status();
  world_.statistics.expect(waited.ok() || waited.code() == StatusCode::kOutOfMemory,
                           "wait_all or wait_any failed");
  std::erase_if(held_, [this](Held& held) {
    if (!held.job.is_completed()) return false;
    collect(held);
    return true;
  });
}

}  // namespace millrace::soak
