#include "check/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/never_destroyed.h"
#include "base/polls.h"
#include "base/process/forked_child.h"
#include "base/process/stack.h"
#include "check/busy_polls.h"
#include "check/check_state.h"
#include "memory/device_side.h"

namespace millrace::check {

namespace check_internal {
constinit std::atomic<bool> active{false};
}  // namespace check_internal

namespace {

constexpr size_t kStackForReport = size_t{128} << 10;
constexpr int64_t kLately = 10'000'000'000;

// A job that is filled and not yet submitted.
struct Begun {
  JobPointer job;
  Begun* next = nullptr;
};

// The state of a thread. It is trivially destructible, so that it can be used as long as the
// thread's memory exists, also by destructors at the end of the thread.
struct ThreadState {
  Begun *first_begun = nullptr, *last_begun = nullptr;  // in order
  BusyPolls polls;
  queue::SequenceId running = 0;  // the job that this thread runs; 0: none
  int64_t callback_began_ns = 0;
  int synchronous_calls = 0;

  void push(JobPointer job) {
    auto* const begun = new Begun{std::move(job)};
    (first_begun == nullptr ? first_begun : last_begun->next) = begun;
    last_begun = begun;
  }
  JobPointer pop() noexcept {
    if (first_begun == nullptr) return nullptr;  // a request that the APIs do not announce
    const std::unique_ptr<Begun> begun(first_begun);
    first_begun = begun->next;
    return std::move(begun->job);
  }
};

ThreadState& of_this_thread() noexcept {
  static constinit thread_local ThreadState state;
  return state;
}

// Runs a part of the checker. It must not disturb the program, whatever happens.
template <class Part>
void contained(Part&& part) noexcept {
  if (is_forked_child()) return;
  try {
    part();
  } catch (const std::exception&) {
    // Memory is exhausted: this event is not seen.
  }
}

// Names of calls take more stack than some threads of programs have. What is known already needs no
// other thread, and where the system refuses one, the finding is still counted.
void report(Finding finding) {
  finding.thread = ::gettid();
  if (!checker().reporter.count(finding)) return;
  const auto write = [&] { checker().reporter.write(finding); };
  if (has_stack(kStackForReport))
    write();
  else
    static_cast<void>(call_with_stack(write));
}

std::string text_of_place(const TensorPlace& place) {
  return place.frame == 0
             ? fmt::format("{} \"{}\"", place.role, place.name)
             : fmt::format("{} \"{}\" of frame {}", place.role, place.name, place.frame);
}

// Names a job of which only the id is known: that of a unit, or that which a runner has given.
std::string text_of_id(uint64_t id) {
  if (queue::unit_of(id) == 0) return fmt::format("job {} of a runner", id);
  return fmt::format("job {}:{}", queue::unit_of(id), queue::counter_of(id));
}

Place submit_of(const WatchedJob& job) {
  return {job.name() + " was submitted here", job.submitted};
}

// Says whether another thread than this one has submitted the job lately and still runs: the end of
// the process may have come between its submission and its wait, or during the wait.
bool may_still_ask(const WatchedJob& job) {
  if (job.thread == ::gettid() || now_ns() - job.submitted_ns > kLately) return false;
  return ::access(fmt::format("/proc/self/task/{}", job.thread).c_str(), F_OK) == 0;
}

Use use_of(const Tensor& tensor, bool is_output) {
  Use use;
  use.is_output = is_output;
  use.device_copy = tensor.device_copy;
  use.may_change = tensor.device_copy.has_value();
  use.place = {is_output ? "output" : "input",
               std::string(tensor.name),
               tensor.index,
               tensor.frame,
               reinterpret_cast<uintptr_t>(tensor.data),
               tensor.bytes};
  return use;
}

void report_conflict(const WatchedJob& later, const Conflict& conflict) {
  const WatchedJob& earlier = *conflict.earlier;
  const std::string what = fmt::format("{} of {} is in the memory of {} of {}, which is in flight",
                                       text_of_place(conflict.later_place), later.name(),
                                       text_of_place(conflict.earlier_place), earlier.name());
  report({.hazard = conflict.both_write ? Hazard::kSharedOutput : Hazard::kUnorderedUse,
          .message = conflict.both_write ? what + ": one result replaces the other"
                                         : what + ", and nothing orders the two",
          .jobs = {later.name(), earlier.name()},
          .tensor = conflict.later_place,
          .places = {submit_of(later), submit_of(earlier)}});
}

// Returns the sum of an input that can be compared.
InputSum sum_now(const Use& use) {
  if (use.is_output || use.device_copy) return {};
  return sum_of(reinterpret_cast<const void*>(use.place.address), use.place.bytes);
}

void on_submitted(queue::SequenceId id) {
  const JobPointer job = of_this_thread().pop();
  if (job == nullptr) return;
  job->id = id;
  job->submitted = Stack::here();
  for (const Conflict& conflict : checker().book.add(job)) report_conflict(*job, conflict);
  // The job has not been published, so it is still this thread's.
  for (Use& use : job->uses) use.submitted = sum_now(use);
}

// The job runs on this thread from now on.
void on_started(queue::SequenceId id) {
  of_this_thread().running = id;
  const JobPointer job = checker().book.find(id);
  if (job == nullptr) return;
  std::vector<InputSum> sums;
  for (const Use& use : job->uses) sums.push_back(sum_now(use));
  checker().book.note_started(*job, std::move(sums));
}

// Returns when an input was written, as exactly as its sums tell; nothing if it was not.
std::optional<Written> written_in_flight(const Use& use, const InputSum& completed) {
  const size_t bytes = use.place.bytes;
  if (const auto before = difference(use.submitted, use.started, bytes)) {
    const auto after = difference(use.started, completed, bytes);
    if (!after) return Written{JobPoint::kSubmitted, JobPoint::kStarted, *before};
    return Written{JobPoint::kSubmitted,
                   JobPoint::kCompleted,
                   {std::min(before->begin, after->begin), std::max(before->end, after->end)}};
  }
  if (const auto range = difference(use.started, completed, bytes))
    return Written{JobPoint::kStarted, JobPoint::kCompleted, *range};
  if (use.started.known()) return std::nullopt;
  const auto range = difference(use.submitted, completed, bytes);
  return range ? std::optional(Written{JobPoint::kSubmitted, JobPoint::kCompleted, *range})
               : std::nullopt;
}

// Returns such as: had been submitted.
std::string reached(JobPoint point) {
  return fmt::format("had {}{}", point == JobPoint::kSubmitted ? "been " : "", name_of(point));
}

void report_written(const WatchedJob& job, const Use& use, const Written& written) {
  report(
      {.hazard = Hazard::kInputWritten,
       .message = fmt::format(
           "the memory of {} of {} was written after the job {} and before it {}, within the bytes "
           "{} to {} of {}",
           text_of_place(use.place), job.name(), reached(written.after), reached(written.before),
           written.bytes.begin, written.bytes.end - 1, use.place.bytes),
       .jobs = {job.name()},
       .tensor = use.place,
       .places = {submit_of(job)},
       .written = written});
}

void check_input(const WatchedJob& job, const Use& use) {
  if (use.is_output || use.may_change || !use.submitted.known()) return;
  const InputSum now = sum_now(use);
  if (now.error == SumError::kUnmapped)
    return report(
        {.hazard = Hazard::kFreedInFlight,
         .message = fmt::format("the memory of {} of {} was freed while the job was in flight",
                                text_of_place(use.place), job.name()),
         .jobs = {job.name()},
         .tensor = use.place,
         .places = {submit_of(job)}});
  if (const auto written = written_in_flight(use, now)) report_written(job, use, *written);
}

// The job is not published yet, so the program must still leave its memory alone.
void on_completed(queue::SequenceId id) {
  if (of_this_thread().running == id) of_this_thread().running = 0;
  checker().completions.fetch_add(1, std::memory_order_relaxed);
  const JobPointer job = checker().book.complete(id);
  if (job == nullptr) return;
  for (Use& use : job->uses) {
    check_input(*job, use);
    use.submitted = use.started = {};  // the job may be kept for long
  }
}

int64_t processor_time_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  return int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

void count_poll() {
  const uint64_t completions = checker().completions.load(std::memory_order_relaxed);
  if (!of_this_thread().polls.count(now_ns(), processor_time_ns(), completions)) return;
  report({.hazard = Hazard::kBusyPolling,
          .message = fmt::format("a thread asks for jobs that are not completed more than {} times "
                                 "in a millisecond of its processor time, for {} milliseconds",
                                 BusyPolls::kMostPerMillisecond, BusyPolls::kMilliseconds),
          .places = {{"the thread asks here", Stack::here()}}});
}

void on_waited(queue::SequenceId id, StatusCode code) {
  if (code == StatusCode::kPending) return count_poll();
  if (code == StatusCode::kInvalidJobId || code == StatusCode::kForked) return;
  const JobPointer job = checker().book.note_asked(id);
  // A job is only cancelled, or gives way to a newer one, because the program wants it.
  const bool failed =
      code != StatusCode::kOk && code != StatusCode::kCancelled && code != StatusCode::kDropped;
  if (job == nullptr || !failed || !job->discarded || job->traits.has_callback) return;
  report({.hazard = Hazard::kIgnoredStatus,
          .message = fmt::format("{} failed with {}, and its handle was destroyed before the "
                                 "program has asked for the status",
                                 job->name(), to_string(code)),
          .jobs = {job->name()},
          .places = {submit_of(*job), {"the handle is destroyed here", Stack::here()}}});
}

void on_callback_ended(uint64_t id, int64_t time_ns) {
  const int64_t taken = time_ns - of_this_thread().callback_began_ns;
  JobPointer job = checker().book.find(id);
  // The ids of runners are others, and may be equal to that of a request by chance.
  const bool known = job != nullptr && job->traits.has_callback && job->traits.shown_id == 0;
  if (known) static_cast<void>(checker().book.note_asked(id));
  if (taken < checker().slow_callback_ns) return;
  Finding finding{.hazard = Hazard::kSlowCallback,
                  .message = fmt::format("a callback of {} took {:.1f} ms; other callbacks of the "
                                         "same unit or runner wait meanwhile",
                                         known ? job->name() : text_of_id(id),
                                         static_cast<double>(taken) / 1e6)};
  if (known) finding.jobs.push_back(job->name());
  if (known) finding.places.push_back(submit_of(*job));
  report(std::move(finding));
}

Place where_noticed() {
  const queue::SequenceId running = of_this_thread().running;
  if (running == 0) return {"it is noticed here", Stack::here()};
  const JobPointer job = checker().book.find(running);
  return job == nullptr ? Place{} : submit_of(*job);
}

// A running job reads what the host has not synced.
void report_stale_input(uint64_t device_address) {
  const JobBook::Found reader =
      checker().book.reader_of_copy(of_this_thread().running, device_address);
  if (reader.job == nullptr)
    return report({.hazard = Hazard::kMissingSync,
                   .message = "the device has stale data: what the host wrote was not synced to it",
                   .places = {where_noticed()}});
  report({.hazard = Hazard::kMissingSync,
          .message = fmt::format("{} of {} is stale on the device: what the host wrote was not "
                                 "synced to it before the job",
                                 text_of_place(reader.place), reader.job->name()),
          .jobs = {reader.job->name()},
          .tensor = reader.place,
          .places = {submit_of(*reader.job)}});
}

// A result that the host has not seen is overwritten by the job that runs, or freed.
void report_lost_result(uint64_t device_address) {
  const JobBook::Found writer =
      checker().book.writer_of_copy(device_address, of_this_thread().running);
  if (writer.job == nullptr)
    return report({.hazard = Hazard::kMissingSync,
                   .message = "the host has stale data: the result of a job was not synced to it",
                   .places = {where_noticed()}});
  report({.hazard = Hazard::kMissingSync,
          .message = fmt::format("{} of {} is stale on the host: the result was not synced to it "
                                 "after the job",
                                 text_of_place(writer.place), writer.job->name()),
          .jobs = {writer.job->name()},
          .tensor = writer.place,
          .places = {submit_of(*writer.job), where_noticed()}});
}

void report_second_wait(uint64_t shown_id, std::string_view why) {
  const std::string job = text_of_id(shown_id);
  report({.hazard = Hazard::kWaitedTwice,
          .message = fmt::format("the program waits for {}, {}", job, why),
          .jobs = {job},
          .places = {{"the wait is here", Stack::here()}}});
}

void observe(void*, const HookEvent& event) noexcept {
  contained([&] {
    switch (event.point) {
      case HookPoint::kSubmitted:
        return on_submitted(event.subject);
      case HookPoint::kStarted:
        return on_started(event.subject);
      case HookPoint::kCompleted:
        return on_completed(event.subject);
      case HookPoint::kWaited:
        if ((event.detail & kPolled) != 0) return;  // note_asked() and note_poll_of_pending()
        return on_waited(event.subject, static_cast<StatusCode>(event.detail));
      case HookPoint::kCallbackBegan:
        of_this_thread().callback_began_ns = event.time_ns;
        return;
      case HookPoint::kCallbackEnded:
        return on_callback_ended(event.subject, event.time_ns);
      case HookPoint::kSyncMissing:
        return event.detail == 0 ? report_stale_input(event.subject)
                                 : report_lost_result(event.subject);
      default:
        return;
    }
  });
}

}  // namespace

Checker& checker() {
  // Never destroyed, since threads may use it while the process exits.
  static NeverDestroyed<Checker> made;
  return made.get();
}

Status start_checking() {
  static_cast<void>(Stack::here());  // the first one loads a library, and takes more stack
  if (!add_hook(observe, nullptr))
    return {StatusCode::kResourceExhausted, "the table of hooks is full"};
  check_internal::active.store(true);
  return {};
}

void stop_checking() noexcept {
  check_internal::active.store(false);
  remove_hook(observe, nullptr);
}

void end_checking() noexcept {
  // A thread that the child does not have may have been inside the table of hooks at the fork, and
  // then nothing can be removed from it any more.
  if (is_forked_child()) return;
  stop_checking();
  contained([] {
    for (const JobPointer& job : checker().book.never_asked()) {
      if (may_still_ask(*job)) continue;
      report({.hazard = Hazard::kNeverWaited,
              .message = job->name() + ": the program ends and has never asked for its outcome",
              .jobs = {job->name()},
              .places = {submit_of(*job)}});
    }
    const bool blind = checker().has_runner_jobs.load() && !memory::strict_sync_requested();
    checker().reporter.summarise(blind ? name_of(Hazard::kMissingSync) : "");
  });
}

void begin_job(std::string_view what, std::span<const Tensor> inputs,
               std::span<const Tensor> outputs, const JobTraits& traits) noexcept {
  contained([&] {
    auto job = std::make_shared<WatchedJob>();
    job->traits = traits;
    job->what = what;
    job->thread = ::gettid();
    job->submitted_ns = now_ns();
    job->asked = of_this_thread().synchronous_calls != 0;
    if (!traits.in_order_of_unit) checker().has_runner_jobs.store(true, std::memory_order_relaxed);
    for (const Tensor& input : inputs) job->uses.push_back(use_of(input, false));
    for (const Tensor& output : outputs) job->uses.push_back(use_of(output, true));
    of_this_thread().push(std::move(job));
  });
}

void SynchronousCall::enter() noexcept {
  contained([&] {
    ++of_this_thread().synchronous_calls;
    entered_ = true;
  });
}

void SynchronousCall::leave() noexcept {
  --of_this_thread().synchronous_calls;
}

void note_asked(queue::SequenceId id) noexcept {
  contained([&] { static_cast<void>(checker().book.note_asked(id)); });
}

void note_asked_up_to(queue::SequenceId id) noexcept {
  contained([&] { checker().book.note_asked_up_to(id); });
}

void note_all_asked() noexcept {
  checker().book.note_all_asked();
}

void note_ends_all() noexcept {
  contained([] { checker().book.note_ends_all(); });
}

void note_unit_asked(uint16_t unit) noexcept {
  checker().book.note_unit_asked(unit);
}

void note_poll_of_pending() noexcept {
  contained(count_poll);
}

void note_second_wait(uint64_t shown_id) noexcept {
  contained([&] { report_second_wait(shown_id, "whose result was collected before"); });
}

void note_wait_for_unknown(uint64_t shown_id) noexcept {
  contained([&] {
    report_second_wait(shown_id, "which is unknown, or whose result was collected before");
  });
}

void note_discarded(queue::SequenceId id) noexcept {
  contained([&] { checker().book.note_discarded(id); });
}

void note_detached(queue::SequenceId id) noexcept {
  contained([&] { checker().book.note_detached(id); });
}

void note_access(const char* call, const void* data, size_t bytes, bool writes) noexcept {
  contained([&] {
    const JobBook::Found found = checker().book.user_of(data, bytes, writes);
    if (found.job == nullptr) return;
    report({.hazard = Hazard::kEarlyAccess,
            .message = fmt::format("{} {} the memory of {} of {}, which is in flight", call,
                                   writes ? "writes" : "reads", text_of_place(found.place),
                                   found.job->name()),
            .jobs = {found.job->name()},
            .tensor = found.place,
            .places = {{"the call is here", Stack::here()}, submit_of(*found.job)}});
  });
}

void note_freed(const char* call, std::string_view what, const void* data, size_t bytes) noexcept {
  contained([&] {
    const JobBook::Found found = checker().book.user_within(data, bytes);
    if (found.job == nullptr) return;
    report({.hazard = Hazard::kFreedInFlight,
            .message = fmt::format("{} frees {}, which is {} of {}, while the job is in flight",
                                   call, what, text_of_place(found.place), found.job->name()),
            .jobs = {found.job->name()},
            .tensor = found.place,
            .places = {{"the call is here", Stack::here()}, submit_of(*found.job)}});
  });
}

void note_model_freed(const char* call, std::string_view what, const void* model) noexcept {
  contained([&] {
    const JobPointer job = checker().book.job_of_model(model);
    if (job == nullptr) return;
    report({.hazard = Hazard::kFreedInFlight,
            .message = fmt::format("{} frees {} while {} is in flight", call, what, job->name()),
            .jobs = {job->name()},
            .places = {{"the call is here", Stack::here()}, submit_of(*job)}});
  });
}

}  // namespace millrace::check
