#include "tests/model_check/explore/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace millrace::explore {
namespace {

constexpr int kOutside = -1;
// Far beyond every scenario: one that gets here is going round in circles.
constexpr size_t kMaxSteps = 20'000;

struct Step {
  int thread;
  const char* what;
  uint64_t value;
  const void* object;
};

}  // namespace

class Scheduler::State {
 public:
  explicit State(int threads) : threads_(threads) {}

  std::string run(const std::function<Scenario()>& make, Path& path, int preemptions);
  void work(int self);
  void stop();
  bool failed() const noexcept { return !failure_.empty(); }

  void point(int self, Condition condition, Switch kind);
  void fail(int self, const std::string& what);
  void note(const Step& step) noexcept;
  Clock& clock(int self) noexcept { return clocks_[self]; }

 private:
  void hand_over(int to);
  bool await_turn(int self);
  void end(int self);
  bool can_go_on(int thread) const;
  int decide(int self, Switch kind);
  std::string report() const;

  const int threads_;

  // The baton: the thread that holds it may access everything below.
  std::mutex mutex_;
  std::array<std::condition_variable, kMaxThreads + 1> turn_;  // by thread + 1
  int holder_ = kOutside;
  bool stopping_ = false;

  Scenario scenario_;
  Path* path_ = nullptr;
  int preemptions_left_ = 0;
  std::array<bool, kMaxThreads> alive_{};
  std::array<Condition, kMaxThreads> conditions_{};
  std::array<Clock, kMaxThreads> clocks_{};
  std::vector<Step> steps_;
  std::string failure_;
};

namespace {

// The identity of this thread. While a condition is evaluated, it is an outsider, so that the
// operations in it are no points.
thread_local Scheduler::State* state = nullptr;
thread_local int self_index = kOutside;

class AsOutsider {
 public:
  AsOutsider() : self_(std::exchange(self_index, kOutside)) {}
  ~AsOutsider() { self_index = self_; }
  AsOutsider(const AsOutsider&) = delete;
  AsOutsider& operator=(const AsOutsider&) = delete;

 private:
  const int self_;
};

}  // namespace

void Scheduler::State::hand_over(int to) {
  {
    const std::lock_guard lock(mutex_);
    holder_ = to;
  }
  turn_[to + 1].notify_one();
}

// False: the scheduler is being destroyed.
bool Scheduler::State::await_turn(int self) {
  std::unique_lock lock(mutex_);
  turn_[self + 1].wait(lock, [&] { return holder_ == self || stopping_; });
  return !stopping_;
}

void Scheduler::State::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (std::condition_variable& turn : turn_) turn.notify_all();
}

void Scheduler::State::work(int self) {
  state = this;
  while (await_turn(self)) {
    self_index = self;
    scenario_.threads[self].run();
    self_index = kOutside;
    end(self);
  }
}

std::string Scheduler::State::run(const std::function<Scenario()>& make, Path& path,
                                  int preemptions) {
  state = this;
  path_ = &path;
  preemptions_left_ = preemptions;
  conditions_ = {};
  steps_.clear();
  scenario_ = make();
  for (int thread = 0; thread < threads_; ++thread) {
    alive_[thread] = true;
    clocks_[thread] = {};
    clocks_[thread][thread] = 1;
  }
  if (!failed()) {
    hand_over(decide(kOutside, Switch::kVoluntary));
    await_turn(kOutside);
  }
  if (!failed()) scenario_.at_end();
  if (!failed() && path.diverged()) failure_ = "the same decisions gave another execution";
  state = nullptr;
  return failed() ? report() : std::string();
}

bool Scheduler::State::can_go_on(int thread) const {
  if (!alive_[thread]) return false;
  const Condition& condition = conditions_[thread];
  const AsOutsider outsider;
  return condition.holds == nullptr || condition.holds(condition.context);
}

// Chooses the thread that continues: `self` if it can, or another one that the path prefers.
// Returns kOutside when none can.
int Scheduler::State::decide(int self, Switch kind) {
  std::array<int, kMaxThreads> options{};
  int count = 0;
  const bool self_can = self != kOutside && can_go_on(self);
  const bool costs = self_can && kind == Switch::kPreempts;
  if (self_can) options[count++] = self;
  if (!costs || preemptions_left_ > 0)
    for (int thread = 0; thread < threads_; ++thread)
      if (thread != self && can_go_on(thread)) options[count++] = thread;
  if (count == 0) return kOutside;
  const int chosen = options[path_->decide(count)];
  if (costs && chosen != self) --preemptions_left_;
  return chosen;
}

void Scheduler::State::point(int self, Condition condition, Switch kind) {
  if (steps_.size() > kMaxSteps) fail(self, "a thread goes round in circles");
  conditions_[self] = condition;
  const int next = decide(self, kind);
  if (next == kOutside) fail(self, "every thread that has not ended waits: a wake-up was lost");
  if (next != self) {
    hand_over(next);
    await_turn(self);
  }
  conditions_[self] = {};
}

void Scheduler::State::end(int self) {
  alive_[self] = false;
  const int next = decide(kOutside, Switch::kVoluntary);
  if (next == kOutside && std::ranges::find(alive_, true) != alive_.end() && !failed())
    failure_ = "every thread that has not ended waits: a wake-up was lost";
  hand_over(next);
}

void Scheduler::State::fail(int self, const std::string& what) {
  if (!failed()) failure_ = what;
  if (self == kOutside) return;
  hand_over(kOutside);
  // For ever: this thread never gets the baton again. The state outlives it.
  while (true) await_turn(self);
}

void Scheduler::State::note(const Step& step) noexcept {
  steps_.push_back(step);
}

// One line per step; a thread's name where it takes its turn.
std::string Scheduler::State::report() const {
  std::string text = failure_ + "\n";
  std::vector<const void*> objects;
  int thread = kOutside;
  for (const Step& step : steps_) {
    if (step.thread != thread) {
      thread = step.thread;
      text += scenario_.threads[thread].name + "\n";
    }
    if (step.object == nullptr) {
      text += fmt::format("  {} {}\n", step.what, step.value);
      continue;
    }
    auto known = std::ranges::find(objects, step.object);
    if (known == objects.end()) known = objects.insert(known, step.object);
    text += fmt::format("    #{} {} {:#x}\n", known - objects.begin(), step.what, step.value);
  }
  return text;
}

Scheduler::Scheduler(int threads) : state_(std::make_shared<State>(threads)) {
  for (int thread = 0; thread < threads; ++thread)
    threads_.emplace_back([state = state_, thread] { state->work(thread); });
}

Scheduler::~Scheduler() {
  if (!state_->failed()) state_->stop();
  for (std::thread& thread : threads_) state_->failed() ? thread.detach() : thread.join();
}

std::string Scheduler::run(const std::function<Scenario()>& make, Path& path, int preemptions) {
  return state_->run(make, path, preemptions);
}

void point(Condition condition, Switch kind) {
  if (self_index != kOutside) state->point(self_index, condition, kind);
}

void require(bool holds, const char* otherwise) {
  if (!holds && state != nullptr) state->fail(self_index, otherwise);
}

void note(const char* what, uint64_t value, const void* object) noexcept {
  if (self_index != kOutside) state->note({self_index, what, value, object});
}

int thread_index() noexcept {
  return self_index;
}

Clock& clock() noexcept {
  return state->clock(self_index);
}

}  // namespace millrace::explore
