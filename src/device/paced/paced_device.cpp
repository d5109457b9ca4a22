#include "device/paced/paced_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/format_status.h"
#include "base/hooks.h"
#include "base/log.h"
#include "base/names.h"
#include "base/settings/environment.h"

namespace millrace::device {
namespace {

using std::chrono::nanoseconds;

// How often a job that waits for its time checks whether a stop is requested.
constexpr int64_t kStopPollNs = 1'000'000;
// A thread that sleeps wakes some tens of microseconds late, so the last part is not slept.
constexpr int64_t kNotSleptNs = 100'000;

// Returns at the time, or with stop_status() soon after a stop was requested.
Status wait_until(int64_t end_ns, const queue::RunControl& control) noexcept {
  const CancellationOff whole;  // the caller's own thread may run the job
  for (int64_t left = end_ns - now_ns(); left > 0; left = end_ns - now_ns()) {
    if (control.stop_requested()) return control.stop_status();
    if (left > kNotSleptNs)
      sleep_until_ns(end_ns - std::max(kNotSleptNs, left - kStopPollNs));
    else
      std::this_thread::yield();
  }
  return {};
}

// Does the same, and lets timelines show that nothing is computed meanwhile.
Status wait_as_pace(int64_t end_ns, const queue::RunControl& control) noexcept {
  if (end_ns > now_ns() && hooks_observe(control.sequence())) {
    static const NameId pace = name_id("pace");
    emit(HookPoint::kPhaseBegan, control.sequence(), pace);
  }
  return wait_until(end_ns, control);
}

// The pace of one program, which its contexts share.
class ProgramPace {
 public:
  ProgramPace(std::shared_ptr<const PaceProfile> profile, const Program& program)
      : profile_(std::move(profile)),
        model_(program.model().name),
        times_(profile_->times_of(model_)) {
    if (times_ == nullptr)
      log_format(LogLevel::kWarning, "pace",
                 "the profile has no times of model \"{}\", which runs as fast as it can", model_);
    if (const OperatorTimes* const stated = profile_->operators_of(model_)) {
      operators_.emplace(program, *stated);
      // Operators that take longer than the whole job are shortened alike.
      operators_mean_ = std::max(times_->mean(), sum_of(*stated));
      note_missing();
    }
  }

  bool is_stated() const noexcept { return times_ != nullptr; }

  // Returns the time of the next job, in the order in which jobs begin.
  nanoseconds next() noexcept {
    return times_->draw(profile_->seed, begun_.fetch_add(1, std::memory_order_relaxed));
  }

  // Null if the profile has no times of operators.
  const OperatorPace* operators() const noexcept { return operators_ ? &*operators_ : nullptr; }
  // Returns how much longer than on average the operators of a job take that takes `time`.
  double share_of(nanoseconds time) const noexcept {
    return static_cast<double>(time.count()) / static_cast<double>(operators_mean_.count());
  }

  void note_late(nanoseconds needed, nanoseconds stated) noexcept {
    if (late_.exchange(true, std::memory_order_relaxed)) return;
    log_format(LogLevel::kWarning, "pace",
               "a job of model \"{}\" took {:.1f} us where the profile says {:.1f}: this processor "
               "cannot keep the pace. MILLRACE_DEVICE=null keeps it, and computes no results",
               model_, to_microseconds(needed.count()), to_microseconds(stated.count()));
  }

 private:
  void note_missing() const {
    const std::vector<std::string>& missing = operators_->missing();
    if (missing.empty()) return;
    log_format(LogLevel::kInfo, "pace",
               "model \"{}\" runs no step for {} of the operators of the profile, such as \"{}\": "
               "their time passes at the end of a job",
               model_, missing.size(), missing.front());
  }

  const std::shared_ptr<const PaceProfile> profile_;
  const std::string model_;
  const ServiceTimes* const times_;  // of profile_
  std::optional<OperatorPace> operators_;
  nanoseconds operators_mean_{0};
  std::atomic<uint64_t> begun_{0};
  std::atomic<bool> late_{false};
};

// Lets the steps of a running frame begin no earlier than the operators before them have ended on
// the other device.
class StepPacer final : public queue::ProgressObserver {
 public:
  StepPacer(const OperatorPace& operators, int64_t begun_ns, double share) noexcept
      : operators_(operators), begun_ns_(begun_ns), share_(share) {}

  void on_progress(const queue::RunControl& control) noexcept override {
    // The device itself asks for a stop, which ends this wait and those below.
    static_cast<void>(wait_until(time_of(operators_.before(control.position())), control));
  }
  // The last step takes its time, and then that of the operators without a step passes.
  void on_steps_done(const queue::RunControl& control) noexcept override {
    static_cast<void>(wait_until(time_of(operators_.sum_of_steps()), control));
    static_cast<void>(wait_as_pace(time_of(operators_.sum()), control));
  }

 private:
  int64_t time_of(nanoseconds since_begin) const noexcept {
    return begun_ns_ + std::llround(static_cast<double>(since_begin.count()) * share_);
  }

  const OperatorPace& operators_;
  const int64_t begun_ns_;
  const double share_;
};

class PacedContext final : public Context {
 public:
  PacedContext(std::unique_ptr<Context> inner, std::shared_ptr<ProgramPace> pace)
      : inner_(std::move(inner)), pace_(std::move(pace)) {}

  Status run(std::span<const Binding> inputs, std::span<const Binding> outputs,
             queue::RunControl& control) noexcept override {
    if (!pace_->is_stated()) return inner_->run(inputs, outputs, control);
    const nanoseconds time = pace_->next();
    const int64_t begun_ns = now_ns();
    const Status status = run_inner(inputs, outputs, control, begun_ns, time);
    if (!status.ok()) return status;
    if (const nanoseconds needed(now_ns() - begun_ns); needed > time)
      pace_->note_late(needed, time);
    return wait_as_pace(begun_ns + time.count(), control);
  }

 private:
  Status run_inner(std::span<const Binding> inputs, std::span<const Binding> outputs,
                   queue::RunControl& control, int64_t begun_ns, nanoseconds time) noexcept {
    const OperatorPace* const operators = pace_->operators();
    if (operators == nullptr) return inner_->run(inputs, outputs, control);
    StepPacer pacer(*operators, begun_ns, pace_->share_of(time));
    // Reports of progress, as for a timeline, come after the wait.
    const queue::OutermostObserverScope observed(control, pacer);
    return inner_->run(inputs, outputs, control);
  }

  const std::unique_ptr<Context> inner_;
  const std::shared_ptr<ProgramPace> pace_;
};

class PacedProgram final : public Program {
 public:
  PacedProgram(std::shared_ptr<const Program> inner, std::shared_ptr<const PaceProfile> profile)
      : inner_(std::move(inner)),
        pace_(std::make_shared<ProgramPace>(std::move(profile), *inner_)) {}

  const graph::CompiledModel& model() const noexcept override { return inner_->model(); }
  bool accepts(Direction direction, size_t index, View view) const noexcept override {
    return inner_->accepts(direction, index, view);
  }
  Result<std::unique_ptr<Context>> create_context() const override {
    MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<Context> inner, inner_->create_context());
    return std::unique_ptr<Context>(std::make_unique<PacedContext>(std::move(inner), pace_));
  }
  ProgramInfo info() const override {
    ProgramInfo info = inner_->info();
    info.device.insert(0, kPacedPrefix);
    return info;
  }
  bool is_of_rank() const noexcept override { return inner_->is_of_rank(); }
  void skip_job() const noexcept override { inner_->skip_job(); }

 private:
  const std::shared_ptr<const Program> inner_;
  const std::shared_ptr<ProgramPace> pace_;
};

}  // namespace

Result<PaceProfile> pace_of_environment() {
  const std::string_view path = environment_variable(kPaceVariable);
  if (path.empty())
    return format_status(StatusCode::kInvalidArgument,
                         "a paced device needs a profile: set {} to the path of one",
                         kPaceVariable);
  Result<PaceProfile> profile = PaceProfile::read(std::string(path));
  if (!profile.ok()) return profile.status().with_context(kPaceVariable);
  return profile;
}

PacedDevice::PacedDevice(std::shared_ptr<Device> inner, PaceProfile profile)
    : inner_(std::move(inner)), profile_(std::make_shared<const PaceProfile>(std::move(profile))) {}

std::string PacedDevice::description() const {
  return fmt::format("paced{}: {}", profile_->device.empty() ? "" : " like " + profile_->device,
                     inner_->description());
}

std::shared_ptr<const Program> PacedDevice::paced(std::shared_ptr<const Program> inner) const {
  return std::make_shared<PacedProgram>(std::move(inner), profile_);
}

Result<std::shared_ptr<const Program>> PacedDevice::load(
    std::shared_ptr<const graph::CompiledModel> model) {
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const Program> inner, inner_->load(std::move(model)));
  return paced(std::move(inner));
}

Result<std::shared_ptr<const Program>> PacedDevice::load_for_rank(
    std::shared_ptr<const graph::CompiledModel> model,
    std::shared_ptr<ranks::Communicator> communicator) {
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const Program> inner,
                            inner_->load_for_rank(std::move(model), std::move(communicator)));
  return paced(std::move(inner));
}

Status PacedDevice::transfer(void* to, const void* from, size_t bytes,
                             queue::RunControl& control) noexcept {
  const int64_t begun_ns = now_ns();
  MILLRACE_RETURN_IF_ERROR(inner_->transfer(to, from, bytes, control));
  if (!profile_->transfers) return {};
  return wait_as_pace(begun_ns + profile_->transfers->time_of(bytes).count(), control);
}

}  // namespace millrace::device
