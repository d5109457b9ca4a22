// How a plan applies its faults to a frame: it decides them at the arrival, then holds, delays,
// hangs or fails the frame. Random faults come from a hash of seed, job and frame (splitmix64), so
// they do not depend on the order in which frames arrive.
#include <algorithm>

#include "base/cancellation.h"
#include "base/hooks.h"
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

// The finaliser of splitmix64: every bit of the result depends on every bit of `x`.
uint64_t mix(uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

enum class Draw : uint64_t { kFail = 1, kHang = 2, kSlow = 3 };

// Returns whether a frame has a random fault of that kind, which happens with this probability.
bool draws(uint64_t seed, uint64_t job, uint16_t frame, Draw draw, double probability) noexcept {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
  const uint64_t kind = uint64_t{frame} << 8 | static_cast<uint64_t>(draw);
  const uint64_t bits = mix(mix(seed + kGolden * job) + kGolden * kind);
  return static_cast<double>(bits >> 11) < probability * 0x1p53;
}

}  // namespace

Status FaultPlan::enter(const queue::RunControl& control) noexcept {
  const CancellationOff whole;
  Lock lock(mutex_);
  Frame frame;
  arrive(frame_of(control), frame);
  if (frame.held) MILLRACE_RETURN_IF_ERROR(wait_at_gate(frame, control, lock));
  if (frame.delay > nanoseconds::zero())
    MILLRACE_RETURN_IF_ERROR(wait_out_delay(frame, control, lock));
  if (frame.hang_for > nanoseconds::zero()) hang(frame, control, lock);
  if (!frame.failure.ok()) inject(&FaultCounts::failures, control, lock);
  return frame.failure;
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

void FaultPlan::arrive(const FrameOfJob& which, Frame& frame) {
  ++arrivals_;
  most_at_once_ = std::max(most_at_once_, ++inside_);
  frame.hangs_ended = hangs_ended_;
  decide(which, frame);
  if (!gate_at_) come_to_gate(frame);
  changed_.notify_all();
}

void FaultPlan::come_to_gate(Frame& frame) {
  if (held_ && allowed_ > 0)
    --allowed_;
  else if (held_)
    hold_back(frame);
}

FaultPlan::FrameOfJob FaultPlan::frame_of(const queue::RunControl& control) {
  if (control.number() != 0) return {control.number(), control.position().frame};
  const queue::AcceptanceOrder::Lock in_order = order_->lock();
  return {order_->accept(), 0};
}

void FaultPlan::decide(const FrameOfJob& which, Frame& frame) {
  frame.delay = slow_;
  decide_randomly(which, frame);
  if (is_every_nth(which)) frame.failure = fail_every_with_;
  if (const auto failure = failures_.extract(which)) frame.failure = failure.mapped();
  if (const auto hang = hangs_.extract(which)) frame.hang_for = hang.mapped();
}

// Counts from the first job that was accepted after the call of fail_every().
bool FaultPlan::is_every_nth(const FrameOfJob& which) const {
  const auto [job, frame] = which;
  return fail_every_ > 0 && frame == 0 && job > fail_every_since_ &&
         (job - fail_every_since_) % fail_every_ == 0;
}

void FaultPlan::decide_randomly(const FrameOfJob& which, Frame& frame) {
  const uint64_t job = which.first - random_since_;
  const auto drawn = [&](Draw draw, double probability) {
    return draws(seed_, job, which.second, draw, probability);
  };
  if (drawn(Draw::kFail, rates_.fail)) frame.failure = rates_.failure;
  if (drawn(Draw::kHang, rates_.hang)) frame.hang_for = rates_.hang_for;
  if (drawn(Draw::kSlow, rates_.slow)) frame.delay += rates_.slow_for;
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
  inject(&FaultCounts::holds, control, lock);
  while (frame.held && !control.stop_requested()) changed_.wait_for(lock, kStopPoll);
  if (!frame.held) return {};
  Frame** link = &first_held_;
  while (*link != &frame) link = &(*link)->next;
  *link = frame.next;
  return control.stop_status();
}

Status FaultPlan::wait_out_delay(const Frame& frame, const queue::RunControl& control, Lock& lock) {
  const steady_clock::time_point end = after(frame.delay);
  inject(&FaultCounts::slows, control, lock);
  while (steady_clock::now() < end) {
    if (control.stop_requested()) return control.stop_status();
    changed_.wait_until(lock, std::min(end, after(kStopPoll)));
  }
  return {};
}

void FaultPlan::hang(const Frame& frame, const queue::RunControl& control, Lock& lock) {
  const auto ended = [&] { return hangs_ended_ != frame.hangs_ended; };
  if (ended()) return;
  const steady_clock::time_point end = after(frame.hang_for);
  inject(&FaultCounts::hangs, control, lock);
  if (end == steady_clock::time_point::max())
    changed_.wait(lock, ended);
  else
    changed_.wait_until(lock, end, ended);
}

void FaultPlan::inject(uint64_t FaultCounts::*kind, const queue::RunControl& control, Lock& lock) {
  ++(counts_.*kind);
  const uint64_t number = counts_.total();
  changed_.notify_all();
  // Observers are called without the plan's mutex.
  lock.unlock();
  emit(HookPoint::kInjected, control.sequence(), number);
  lock.lock();
}

}  // namespace millrace::device
