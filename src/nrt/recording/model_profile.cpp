#include "nrt/recording/model_profile.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/float_environment.h"
#include "device/device.h"
#include "nrt/recording/chrome_trace.h"

namespace millrace::nrt::trace {
namespace {

constexpr ChromeTrace::Track kExecutions = 1, kSteps = 2;

}  // namespace

ModelProfile::ModelProfile(const std::shared_ptr<const Model>& model)
    : model_(model), address_(model.get()), name_(model->name()) {
  for (const device::StepInfo& step : model->executor()->program().info().steps)
    step_names_.push_back(step.node.empty() ? step.operation : step.node);
}

size_t ModelProfile::wanted_steps(const Model& model) const noexcept {
  return is_of(model) ? step_names_.size() : 0;
}

void ModelProfile::on_span(const Span& span) noexcept {
  if (span.model == nullptr || !is_of(*span.model)) return;
  try {
    Execution execution{span, {span.steps.begin(), span.steps.end()}};
    execution.span.model = nullptr;
    execution.span.steps = {};
    const std::lock_guard lock(mutex_);
    marks_ += std::max<size_t>(execution.marks.size(), 1);
    executions_.push_back(std::move(execution));
    while (marks_ > kMostMarks && executions_.size() > 1) {
      marks_ -= std::max<size_t>(executions_.front().marks.size(), 1);
      executions_.pop_front();
    }
  } catch (const std::bad_alloc&) {
    // The execution is not recorded: it must not fail because of the profile.
  }
}

std::string ModelProfile::name_of_step(uint32_t step) const {
  if (step == StepMark::kInputs) return "inputs";
  if (step == StepMark::kOutputs) return "outputs";
  return step_names_[step];
}

std::string ModelProfile::text() const {
  const DefaultFloatEnvironment floats;
  ChromeTrace trace;
  trace.name_track(kExecutions, "executions");
  trace.name_track(kSteps, "operators");
  const std::lock_guard lock(mutex_);
  for (const Execution& execution : executions_) {
    const Span& span = execution.span;
    trace.add_slice(kExecutions, name_, span.begin_ns, span.end_ns, arguments_of(span));
    const std::vector<StepMark>& marks = execution.marks;
    for (size_t i = 0; i < marks.size(); ++i) {
      const int64_t end_ns = i + 1 < marks.size() ? marks[i + 1].begin_ns : span.end_ns;
      trace.add_slice(kSteps, name_of_step(marks[i].step), marks[i].begin_ns, end_ns,
                      {{"frame", marks[i].frame}});
    }
  }
  return trace.text();
}

}  // namespace millrace::nrt::trace
