// The same changes count as for a profile (loading/profile.h): a frame begins with its inputs.
#include "runtime/jobs/phase_events.h"

#include "base/hooks.h"

namespace millrace::runtime {

PhaseEvents::PhaseEvents(std::span<const NameId> steps, queue::RunControl& control) noexcept
    : steps_(steps), scope_(control, *this) {}

void PhaseEvents::on_progress(const queue::RunControl& control) noexcept {
  static const NameId inputs = name_id("inputs");
  const queue::RunPosition position = control.position();
  if (frame_ != position.frame) {
    frame_ = position.frame;
    step_.reset();
    go_on_with(inputs, control);
  } else if (position.step < steps_.size() && step_ != position.step) {
    step_ = position.step;  // the first step of a partition is reported twice
    go_on_with(steps_[position.step], control);
  }
}

void PhaseEvents::on_steps_done(const queue::RunControl& control) noexcept {
  static const NameId outputs = name_id("outputs");
  go_on_with(outputs, control);
}

void PhaseEvents::go_on_with(NameId name, const queue::RunControl& control) noexcept {
  emit(HookPoint::kPhaseBegan, control.sequence(), name);
}

}  // namespace millrace::runtime
