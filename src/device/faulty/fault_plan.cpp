// How a plan is set and observed: the gate, the faults and the counts. fault_plan_frames.cpp
// applies them to frames.
#include "device/faulty/fault_plan.h"

#include <utility>

#include "base/contained.h"

namespace millrace::device {

using std::chrono::nanoseconds;

const Status& injected_failure() {
  // Never destroyed: a frame may run on a lane while the process exits.
  static const Status* const failure =
      new Status(StatusCode::kDeviceFailed,
                 "an injected fault, of MILLRACE_FAULTS or of the program's own fault plan");
  return *failure;
}

void FaultPlan::apply(const FaultSettings& settings) {
  const FaultRates& rates = settings.rates;
  if (settings.fail > 0) fail_nth(settings.fail, rates.failure);
  if (settings.fail_every > 0) fail_every(settings.fail_every, rates.failure);
  if (settings.hang > 0) hang_nth(settings.hang, rates.hang_for);
  if (settings.slow > nanoseconds::zero()) slow(settings.slow);
  randomize(settings.seed, rates);
  add_rules(settings.rules);
}

void FaultPlan::hold() {
  close_gate(std::nullopt);
}

void FaultPlan::hold_at(uint32_t partition) {
  close_gate(partition);
}

void FaultPlan::close_gate(std::optional<uint32_t> partition) {
  const std::lock_guard lock(mutex_);
  held_ = true;
  gate_at_ = partition;
  allowed_ = 0;
}

void FaultPlan::release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  while (first_held_ != nullptr) let_first_go();
  changed_.notify_all();
}

void FaultPlan::let_through(uint64_t frames) {
  const std::lock_guard lock(mutex_);
  if (!held_) return;
  for (; frames > 0 && first_held_ != nullptr; --frames) let_first_go();
  allowed_ += frames;
  changed_.notify_all();
}

void FaultPlan::fail_nth(uint64_t n, Status status, uint16_t frame) {
  const std::lock_guard lock(mutex_);
  failures_.insert_or_assign({order_->accepted() + n, frame}, std::move(status));
}

void FaultPlan::fail_every(uint64_t n, Status status) {
  const std::lock_guard lock(mutex_);
  fail_every_ = n;
  fail_every_since_ = order_->accepted();
  fail_every_with_ = std::move(status);
}

void FaultPlan::hang_nth(uint64_t n, nanoseconds how_long) {
  const std::lock_guard lock(mutex_);
  hangs_.insert_or_assign({order_->accepted() + n, 0}, how_long);
}

void FaultPlan::end_hangs() {
  const std::lock_guard lock(mutex_);
  ++hangs_ended_;
  changed_.notify_all();
}

void FaultPlan::slow(nanoseconds delay) {
  const std::lock_guard lock(mutex_);
  slow_ = delay;
}

void FaultPlan::randomize(uint64_t seed, const FaultRates& rates) {
  const std::lock_guard lock(mutex_);
  seed_ = seed;
  random_since_ = order_->accepted();
  rates_ = rates;
}

void FaultPlan::add_rules(const FaultRules& rules) {
  if (rules.empty()) return;
  const std::lock_guard lock(mutex_);
  auto all = std::make_shared<FaultRules>(rules_ == nullptr ? FaultRules() : *rules_);
  all->insert(all->end(), rules.begin(), rules.end());
  if (all->size() > kMostFaultRules) all->resize(kMostFaultRules);
  rules_ = std::move(all);
  rules_since_ = order_->accepted();
  allocations_ = calls_ = descriptors_ = 0;
  for (auto& [id, unit] : units_) unit.calls = 0;
}

Status FaultPlan::name_unit(uint16_t id, const std::string& name) noexcept {
  const std::lock_guard lock(mutex_);
  return contained([&] {
    units_.insert_or_assign(id, NamedUnit{.name = name});
    return Status();
  });
}

FaultRules FaultPlan::rules() const {
  const std::lock_guard lock(mutex_);
  return rules_ == nullptr ? FaultRules() : *rules_;
}

void FaultPlan::heal() {
  const std::lock_guard lock(mutex_);
  rules_.reset();
  failures_.clear();
  hangs_.clear();
  fail_every_ = 0;
  slow_ = nanoseconds::zero();
  rates_ = {};
}

uint64_t FaultPlan::arrivals() const {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

void FaultPlan::await_arrivals(uint64_t frames) {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return arrivals_ >= frames; });
}

void FaultPlan::await_holds(uint64_t frames) {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return counts_.holds >= frames; });
}

void FaultPlan::await_hangs(uint64_t frames) {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return counts_.hangs >= frames; });
}

uint32_t FaultPlan::most_at_once() const {
  const std::lock_guard lock(mutex_);
  return most_at_once_;
}

FaultCounts FaultPlan::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace millrace::device
