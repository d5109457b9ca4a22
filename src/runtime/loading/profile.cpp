// The recorder observes the progress of a job (RunControl): whenever a piece of work begins, the
// time since the last change is added to the share that was current.
#include "runtime/loading/profile.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace millrace::runtime {

void TimeShare::add(const TimeShare& more) noexcept {
  if (more.calls == 0) return;
  min_ns = calls == 0 ? more.min_ns : std::min(min_ns, more.min_ns);
  max_ns = std::max(max_ns, more.max_ns);
  calls += more.calls;
  total_ns += more.total_ns;
}

// Records the times of one job. Only the thread that runs the job uses it.
class Profile::Recorder final : public queue::ProgressObserver {
 public:
  explicit Recorder(size_t steps) { job_.steps.resize(steps); }

  void begin() noexcept {
    frame_.reset();
    running_ = &job_.inputs;
    begun_ns_ = since_ns_ = now_ns();
  }

  void on_progress(const queue::RunControl& control) noexcept override {
    const queue::RunPosition position = control.position();
    if (frame_ != position.frame) {
      frame_ = position.frame;
      ++job_.frames;
      go_on_with(job_.inputs);
    } else if (position.step < job_.steps.size()) {
      go_on_with(job_.steps[position.step]);
    }
  }
  void on_steps_done(const queue::RunControl&) noexcept override { go_on_with(job_.outputs); }

  void end() noexcept { account(); }

  // Adds the times of the job that has ended to `totals`, and resets them for the next job.
  void hand_over(ProfileTotals& totals) noexcept {
    ++totals.jobs;
    totals.frames += std::exchange(job_.frames, 0);
    totals.execute_ns += since_ns_ - begun_ns_;
    totals.inputs.add(std::exchange(job_.inputs, {}));
    totals.outputs.add(std::exchange(job_.outputs, {}));
    for (size_t i = 0; i < job_.steps.size(); ++i)
      totals.steps[i].add(std::exchange(job_.steps[i], {}));
  }

 private:
  void go_on_with(TimeShare& share) noexcept {
    if (&share == running_) return;
    account();
    running_ = &share;
  }
  void account() noexcept {
    const int64_t now = now_ns();
    const int64_t taken = now - since_ns_;
    running_->add({.calls = 1, .total_ns = taken, .min_ns = taken, .max_ns = taken});
    since_ns_ = now;
  }

  ProfileTotals job_;
  std::optional<uint16_t> frame_;
  TimeShare* running_ = nullptr;  // the current share, for the time from since_ns_ on
  int64_t since_ns_ = 0;
  int64_t begun_ns_ = 0;
};

Profile::Profile(const device::Program& program) {
  totals_.steps.resize(program.info().steps.size());
}

Profile::~Profile() = default;

ProfileTotals Profile::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::unique_ptr<Profile::Recorder> Profile::take_recorder() noexcept {
  const std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    std::unique_ptr<Recorder> recorder = std::move(idle_.back());
    idle_.pop_back();
    return recorder;
  }
  try {
    idle_.reserve(recorders_ + 1);  // so that give_back() need not allocate
    auto recorder = std::make_unique<Recorder>(totals_.steps.size());
    ++recorders_;
    return recorder;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Profile::give_back(std::unique_ptr<Recorder> recorder) noexcept {
  const std::lock_guard lock(mutex_);
  recorder->hand_over(totals_);
  idle_.push_back(std::move(recorder));
}

Profile::Run::Run(Profile& profile, queue::RunControl& control) noexcept
    : profile_(profile), recorder_(profile.take_recorder()) {
  if (recorder_ == nullptr) return;
  observed_.emplace(control, *recorder_);
  recorder_->begin();
}

Profile::Run::~Run() {
  if (recorder_ == nullptr) return;
  recorder_->end();
  observed_.reset();
  profile_.give_back(std::move(recorder_));
}

}  // namespace millrace::runtime
