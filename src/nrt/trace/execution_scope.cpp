#include "nrt/trace/execution_scope.h"

#include <new>

#include "base/clock.h"

namespace millrace::nrt::trace {

void ExecutionScope::begin(const Model& model, Span& span) noexcept {
  span.model = &model;
  if (const size_t steps = wanted_steps(model); steps != 0)
    observe(steps, model.frames(), span.begin_ns);
}

// If memory for the marks is exhausted, the execution is recorded without its steps.
void ExecutionScope::observe(size_t steps, uint32_t frames, int64_t begin_ns) noexcept {
  try {
    // Two marks per step, since an asynchronous collective is marked where it begins and where it
    // is awaited; two more per frame for its inputs and outputs.
    marks_.reserve((2 * steps + 2) * frames);
  } catch (const std::bad_alloc&) {
    return;
  }
  steps_ = steps;
  marks_.push_back({begin_ns, StepMark::kInputs, 0});
  observed_.emplace(control_, static_cast<queue::ProgressObserver&>(*this));
}

void ExecutionScope::on_progress(const queue::RunControl& control) noexcept {
  const queue::RunPosition position = control.position();
  if (frame_ != position.frame) {
    frame_ = position.frame;
    go_on_with(StepMark::kInputs);
  } else if (position.step < steps_) {
    go_on_with(position.step);
  }
}

void ExecutionScope::go_on_with(uint32_t step) noexcept {
  if (marks_.back().step == step || marks_.size() == marks_.capacity()) return;
  marks_.push_back({now_ns(), step, frame_.value_or(0)});
}

void ExecutionScope::end(Span& span) noexcept {
  observed_.reset();
  span.steps = marks_;
}

}  // namespace millrace::nrt::trace
