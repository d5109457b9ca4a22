#include "nrt/trace/execution_scope.h"

#include <new>

#include "base/clock.h"

namespace millrace::nrt::trace {

void ExecutionScope::begin(const Model& model, nrta_seq_t sequence) noexcept {
  span_.emplace();
  span_->core = static_cast<int>(model.core());
  span_->thread = this_thread();
  span_->sequence = sequence;
  span_->model = &model;
  span_->begin_ns = now_ns();
  if (const size_t steps = wanted_steps(model); steps != 0) observe(steps, model.frames());
}

// An execution for which there is no memory left is recorded without its steps.
void ExecutionScope::observe(size_t steps, uint32_t frames) noexcept {
  try {
    marks_.reserve((steps + 2) * frames);
  } catch (const std::bad_alloc&) {
    return;
  }
  steps_ = steps;
  marks_.push_back({span_->begin_ns, StepMark::kInputs, 0});
  previous_ = control_.observe(this);
  observed_ = true;
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

void ExecutionScope::end() noexcept {
  if (observed_) control_.observe(previous_);
  span_->end_ns = now_ns();
  span_->steps = marks_;
  tell(*span_);
}

}  // namespace millrace::nrt::trace
