// How a plan applies its faults to a frame: it decides them at the arrival, then holds, delays,
// hangs or fails the frame.
#include <algorithm>

#include "base/cancellation.h"
#include "base/hooks.h"
#include "base/names.h"
#include "base/process/forked_child.h"
#include "device/faulty/fault_plan.h"

namespace millrace::device {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// How often a frame that is held or delayed checks whether a stop is requested.
constexpr std::chrono::milliseconds kStopPoll{1};

steady_clock::time_point after(nanoseconds delay) {
  const steady_clock::time_point now = steady_clock::now();
  return delay < steady_clock::time_point::max() - now ? now + delay
                                                       : steady_clock::time_point::max();
}

// Returns the name of the fault that refuses what is selected.
const char* name_of(FaultSubject subject) noexcept {
  switch (subject) {
    case FaultSubject::kAllocations:
      return "oom";
    case FaultSubject::kCalls:
      return "full";
    case FaultSubject::kDescriptors:
      return "fdloss";
    case FaultSubject::kJobs:
      break;
  }
  return "fail";
}

// The kinds of the random faults of settings, for is_drawn().
constexpr uint64_t kFail = 1, kHang = 2, kSlow = 3;

}  // namespace

bool SpoiltOutputs::has(std::string_view output) const noexcept {
  if (!any()) return false;
  for (size_t i = 0; i < rules_->size(); ++i) {
    const std::string& chosen = (*rules_)[i].output;
    if ((chosen_ >> i & 1) != 0 && (chosen.empty() || chosen == output)) return true;
  }
  return false;
}

Status FaultPlan::enter(const queue::RunControl& control, std::string_view model,
                        SpoiltOutputs* spoilt) noexcept {
  const CancellationOff whole;
  Lock lock(mutex_);
  Frame frame;
  arrive(job_of(control, model), frame);
  const FrameFaults& faults = frame.faults;
  if (frame.held) MILLRACE_RETURN_IF_ERROR(wait_at_gate(frame, control, lock));
  if (faults.delay > nanoseconds::zero())
    MILLRACE_RETURN_IF_ERROR(wait_out_delay(frame, control, lock));
  if (faults.hang_for > nanoseconds::zero()) hang(frame, control, lock);
  if (!faults.failure.ok()) inject(&FaultCounts::failures, "fail", control.sequence(), lock);
  if (spoilt != nullptr) *spoilt = faults.spoilt;
  return faults.failure;
}

void FaultPlan::note_spoilt(const queue::RunControl& control) noexcept {
  const CancellationOff whole;
  Lock lock(mutex_);
  inject(&FaultCounts::nans, "nan", control.sequence(), lock);
}

Status FaultPlan::admit(FaultSubject subject, uint64_t& count, uint16_t unit) noexcept {
  // Another thread may have held the mutex at the fork; the child is refused anyway.
  if (is_forked_child()) return {};
  const CancellationOff whole;
  Lock lock(mutex_);
  FaultedJob asked{.number = ++count};
  if (const auto named = units_.find(unit); unit != 0 && named != units_.end()) {
    asked.unit = named->second.name;
    asked.number_in_unit = ++named->second.calls;
  }
  if (rules_ == nullptr) return {};
  for (size_t i = 0; i < rules_->size(); ++i) {
    const FaultRule& rule = (*rules_)[i];
    if (rule.subject != subject || !selects(rule, i, seed_, asked)) continue;
    const Status refusal = rule.failure;
    inject(&FaultCounts::refusals, name_of(subject), 0, lock);
    return refusal;
  }
  return {};
}

void FaultPlan::leave() noexcept {
  const std::lock_guard lock(mutex_);
  --inside_;
}

void FaultPlan::enter_partition(uint32_t partition, const queue::RunControl& control) noexcept {
  const CancellationOff whole;
  Lock lock(mutex_);
  if (gate_at_ != partition) return;
  Frame frame;
  come_to_gate(frame);
  // The status is ignored, since the inner device itself checks whether a stop is requested.
  if (frame.held) static_cast<void>(wait_at_gate(frame, control, lock));
}

void FaultPlan::arrive(const FaultedJob& job, Frame& frame) {
  ++arrivals_;
  most_at_once_ = std::max(most_at_once_, ++inside_);
  frame.hangs_ended = hangs_ended_;
  frame.faults = decide(job);
  failures_.erase({job.number, job.frame});
  hangs_.erase({job.number, job.frame});
  if (!gate_at_) come_to_gate(frame);
  changed_.notify_all();
}

void FaultPlan::come_to_gate(Frame& frame) {
  if (held_ && allowed_ > 0)
    --allowed_;
  else if (held_)
    hold_back(frame);
}

// Unit ids belong to a frame only if a unit runs it, which then also has numbered its job.
FaultedJob FaultPlan::job_of(const queue::RunControl& control, std::string_view model) {
  if (control.number() == 0) {
    const queue::AcceptanceOrder::Lock in_order = order_->lock();
    return {.number = order_->accept(), .model = model};
  }
  FaultedJob job{.number = control.number(),
                 .frame = control.position().frame,
                 .number_in_unit = queue::counter_of(control.sequence()),
                 .model = model};
  if (rules_ == nullptr) return job;
  const auto unit = units_.find(queue::unit_of(control.sequence()));
  if (unit != units_.end()) job.unit = unit->second.name;
  return job;
}

FrameFaults FaultPlan::foresee(const FaultedJob& job) const {
  const std::lock_guard lock(mutex_);
  return decide(job);
}

FrameFaults FaultPlan::decide(const FaultedJob& job) const {
  const FrameOfJob which{job.number, job.frame};
  FrameFaults faults;
  faults.delay = slow_;
  decide_randomly(job, faults);
  if (is_every_nth(job)) faults.failure = fail_every_with_;
  if (const auto failure = failures_.find(which); failure != failures_.end())
    faults.failure = failure->second;
  if (const auto hang = hangs_.find(which); hang != hangs_.end()) faults.hang_for = hang->second;
  if (rules_ != nullptr) decide_by_rules(job, faults);
  return faults;
}

// Counts from the first job that was accepted after the call of fail_every().
bool FaultPlan::is_every_nth(const FaultedJob& job) const {
  return fail_every_ > 0 && job.frame == 0 && job.number > fail_every_since_ &&
         (job.number - fail_every_since_) % fail_every_ == 0;
}

void FaultPlan::decide_randomly(const FaultedJob& job, FrameFaults& faults) const {
  const auto drawn = [&](uint64_t kind, double probability) {
    return is_drawn(seed_, job.number - random_since_, job.frame, kind, probability);
  };
  if (drawn(kFail, rates_.fail)) faults.failure = rates_.failure;
  if (drawn(kHang, rates_.hang)) faults.hang_for = rates_.hang_for;
  if (drawn(kSlow, rates_.slow)) faults.delay += rates_.slow_for;
}

void FaultPlan::decide_by_rules(FaultedJob job, FrameFaults& faults) const {
  job.number -= rules_since_;
  for (size_t i = 0; i < rules_->size(); ++i) {
    const FaultRule& rule = (*rules_)[i];
    if (rule.subject != FaultSubject::kJobs || !selects(rule, i, seed_, job)) continue;
    switch (rule.action) {
      case FaultAction::kFail:
        if (faults.failure.ok()) faults.failure = rule.failure;
        break;
      case FaultAction::kHang:
        faults.hang_for = std::max(faults.hang_for, rule.time);
        break;
      case FaultAction::kSlow:
        faults.delay += delay_of(rule, i, seed_, job);
        break;
      case FaultAction::kNan:
        faults.spoilt.rules_ = rules_;
        faults.spoilt.chosen_ |= uint64_t{1} << i;
        break;
    }
  }
}

void FaultPlan::hold_back(Frame& frame) {
  frame.held = true;
  Frame** end = &first_held_;
  while (*end != nullptr) end = &(*end)->next;
  *end = &frame;
}

void FaultPlan::let_first_go() {
  first_held_->held = false;
  first_held_ = first_held_->next;
}

Status FaultPlan::wait_at_gate(Frame& frame, const queue::RunControl& control, Lock& lock) {
  inject(&FaultCounts::holds, "hold", control.sequence(), lock);
  while (frame.held && !control.stop_requested()) changed_.wait_for(lock, kStopPoll);
  if (!frame.held) return {};
  Frame** link = &first_held_;
  while (*link != &frame) link = &(*link)->next;
  *link = frame.next;
  return control.stop_status();
}

Status FaultPlan::wait_out_delay(const Frame& frame, const queue::RunControl& control, Lock& lock) {
  const steady_clock::time_point end = after(frame.faults.delay);
  inject(&FaultCounts::slows, "slow", control.sequence(), lock);
  while (steady_clock::now() < end) {
    if (control.stop_requested()) return control.stop_status();
    changed_.wait_until(lock, std::min(end, after(kStopPoll)));
  }
  return {};
}

void FaultPlan::hang(const Frame& frame, const queue::RunControl& control, Lock& lock) {
  const auto ended = [&] { return hangs_ended_ != frame.hangs_ended; };
  if (ended()) return;
  const steady_clock::time_point end = after(frame.faults.hang_for);
  inject(&FaultCounts::hangs, "hang", control.sequence(), lock);
  if (end == steady_clock::time_point::max())
    changed_.wait(lock, ended);
  else
    changed_.wait_until(lock, end, ended);
}

void FaultPlan::inject(uint64_t FaultCounts::*kind, const char* name, queue::SequenceId sequence,
                       Lock& lock) {
  ++(counts_.*kind);
  const uint64_t number = counts_.total();
  changed_.notify_all();
  // Observers are called without the plan's mutex.
  lock.unlock();
  if (hooks_observed()) emit(HookPoint::kInjected, sequence, named_number(name_id(name), number));
  lock.lock();
}

}  // namespace millrace::device
