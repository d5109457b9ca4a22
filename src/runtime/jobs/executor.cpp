// The executors of the process are shared by program and lanes, in a table of weak pointers. A
// frame whose tensors need no conversion takes a short path (fits, bind_as_they_are).
#include "runtime/jobs/executor.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/cancellation.h"
#include "base/contained.h"
#include "base/never_destroyed.h"
#include "base/process/forked_child.h"

namespace millrace::runtime {
namespace {

using device::Direction;

// The executors of the process, by program and lanes.
struct Executors {
  using Key = std::pair<const device::Program*, const queue::Lanes*>;
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Executor>> known;
};

Executors& executors() {
  static NeverDestroyed<Executors> made;
  return made.get();
}

// Adds the size of the memory and the dimensions to the bindings of open tensors.
void add_open(const std::vector<Boundary>& boundaries, std::span<const OpenTensor> open,
              std::vector<device::Binding>& bindings) noexcept {
  for (size_t i = 0; i < boundaries.size(); ++i) {
    if (!boundaries[i].is_open()) continue;
    bindings[i].bytes = open[i].bytes;
    bindings[i].shape = open[i].shape;
  }
}

}  // namespace

Result<std::shared_ptr<Executor>> Executor::of(std::shared_ptr<device::Device> device,
                                               std::shared_ptr<const device::Program> program,
                                               std::shared_ptr<queue::Lanes> lanes) {
  if (lanes == nullptr) lanes = std::shared_ptr<queue::Lanes>(device, &device->lanes());
  // These are declared before the lock so that they are destroyed after it: ~Executor locks, too.
  std::unique_ptr<Executor> fresh;
  std::shared_ptr<Executor> made;
  Executors& all = executors();
  const std::lock_guard lock(all.mutex);
  std::weak_ptr<Executor>& known = all.known[{program.get(), lanes.get()}];
  if (std::shared_ptr<Executor> executor = known.lock()) return executor;
  fresh.reset(new Executor(std::move(device), std::move(program), std::move(lanes)));
  made = std::move(fresh);
  MILLRACE_RETURN_IF_ERROR(made->plan());
  known = made;
  return made;
}

Executor::Executor(std::shared_ptr<device::Device> device,
                   std::shared_ptr<const device::Program> program,
                   std::shared_ptr<queue::Lanes> lanes)
    : device_(std::move(device)),
      program_(std::move(program)),
      model_(program_->model()),
      lanes_(std::move(lanes)),
      states_(lanes_->id_limit()) {}

Executor::~Executor() {
  if (is_forked_child()) return;
  // The program may outlive this executor. Jobs of its next one would not match those of the other
  // ranks.
  if (first_skipped_.load(std::memory_order_relaxed) != kNoJob) program_->skip_job();
  Executors& all = executors();
  const std::lock_guard lock(all.mutex);
  const auto it = all.known.find({program_.get(), lanes_.get()});
  // Another executor with the same key may have been made after the last pointer to this one ended.
  if (it != all.known.end() && it->second.expired()) all.known.erase(it);
}

Status Executor::plan() {
  const auto plan_side = [this](Direction direction, size_t count, std::vector<Boundary>& side) {
    side.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      Result<Boundary> boundary = Boundary::plan(*program_, direction, i);
      if (!boundary.ok()) return boundary.status();
      open_ = open_ || boundary->is_open();
      side.push_back(*std::move(boundary));
    }
    return Status();
  };
  MILLRACE_RETURN_IF_ERROR(plan_side(Direction::kInput, model().inputs.size(), inputs_));
  return plan_side(Direction::kOutput, model().outputs.size(), outputs_);
}

Status Executor::check(const JobBindings& bindings) const {
  if (fits(bindings)) [[likely]]
    return {};
  if (bindings.frames < 1 || bindings.frames > model().batch_size)
    return invalid_argument(fmt::format("a job of {} frames does not fit a batch size of {}",
                                        bindings.frames, model().batch_size));
  MILLRACE_RETURN_IF_ERROR(check_side(bindings.inputs, bindings.frames, "input", inputs_));
  MILLRACE_RETURN_IF_ERROR(check_side(bindings.outputs, bindings.frames, "output", outputs_));
  if (!open_) return {};
  MILLRACE_RETURN_IF_ERROR(check_open(bindings.inputs, bindings.open_inputs, inputs_));
  return check_open(bindings.outputs, bindings.open_outputs, outputs_);
}

// The fast part of check(), for a job with one frame. False means that only check() can decide.
bool Executor::fits(const JobBindings& bindings) const noexcept {
  const auto fit = [](std::span<const TensorBinding> side,
                      const std::vector<Boundary>& boundaries) {
    bool all = side.size() == boundaries.size();
    for (size_t i = 0; all && i < side.size(); ++i) all = boundaries[i].fits(side[i]);
    return all;
  };
  return !open_ && bindings.frames == 1 && fit(bindings.inputs, inputs_) &&
         fit(bindings.outputs, outputs_);
}

Status Executor::check_side(std::span<const TensorBinding> bindings, size_t frames,
                            const char* what, const std::vector<Boundary>& boundaries) const {
  const size_t expected = frames * boundaries.size();
  if (bindings.size() != expected)
    return invalid_argument(fmt::format("{} {} tensors are bound where {} frames take {}",
                                        bindings.size(), what, frames, expected));
  const TensorBinding* binding = bindings.data();
  for (size_t frame = 0; frame < frames; ++frame)
    for (const Boundary& boundary : boundaries)
      MILLRACE_RETURN_IF_ERROR(boundary.check(*binding++));
  return {};
}

Status Executor::check_open(std::span<const TensorBinding> bindings,
                            std::span<const OpenTensor> open,
                            const std::vector<Boundary>& boundaries) const {
  if (open.size() != bindings.size())
    return invalid_argument(
        fmt::format("model \"{}\" has open dimensions, which only jobs of the native API can state",
                    model().name));
  for (size_t i = 0; i < open.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(boundaries[i % boundaries.size()].check_open(bindings[i], open[i]));
  return {};
}

Status Executor::check_in_place(const JobBindings& bindings) const {
  const auto check_each = [](std::span<const TensorBinding> side,
                             const std::vector<Boundary>& boundaries) -> Status {
    for (size_t i = 0; i < side.size(); ++i)
      MILLRACE_RETURN_IF_ERROR(boundaries[i % boundaries.size()].check_in_place(side[i]));
    return {};
  };
  MILLRACE_RETURN_IF_ERROR(check_each(bindings.inputs, inputs_));
  return check_each(bindings.outputs, outputs_);
}

Status Executor::prepare(LaneState& state) const {
  if (state.context != nullptr) return {};
  const CancellationOff whole;  // this may be a thread of the program, which has borrowed the lane
  state.input_staging.resize(inputs_.size());
  state.output_staging.resize(outputs_.size());
  state.inputs.resize(inputs_.size());
  state.outputs.resize(outputs_.size());
  MILLRACE_ASSIGN_OR_RETURN(state.context, program_->create_context());
  return {};
}

// Binds the callers' memory if no tensor of the frame needs staging. Returns false if one does, or
// the lane has no context yet.
bool Executor::bind_as_they_are(LaneState& state, std::span<const TensorBinding> inputs,
                                std::span<const TensorBinding> outputs) const noexcept {
  if (state.context == nullptr) return false;
  const auto bind = [](const std::vector<Boundary>& boundaries,
                       std::span<const TensorBinding> tensors,
                       std::vector<device::Binding>& bound) {
    for (size_t i = 0; i < boundaries.size(); ++i) {
      if (!boundaries[i].takes(tensors[i])) return false;
      bound[i] = {tensors[i].data, tensors[i].view};
    }
    return true;
  };
  return bind(inputs_, inputs, state.inputs) && bind(outputs_, outputs, state.outputs);
}

// Binds every tensor in a view that the program accepts, and converts inputs where necessary.
Status Executor::stage(LaneState& state, std::span<const TensorBinding> inputs,
                       std::span<const TensorBinding> outputs, const OpenTensors* open,
                       BoundaryConversions& conversions) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(
        inputs_[i].stage_input(inputs[i], state.input_staging[i], conversions, state.inputs[i]));
  for (size_t i = 0; i < outputs_.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(
        outputs_[i].stage_output(outputs[i], state.output_staging[i], state.outputs[i]));
  if (open != nullptr) [[unlikely]] {
    add_open(inputs_, open->inputs, state.inputs);
    add_open(outputs_, open->outputs, state.outputs);
  }
  return {};
}

Status Executor::run_frame(std::span<const TensorBinding> inputs,
                           std::span<const TensorBinding> outputs, const OpenTensors* open,
                           queue::RunControl& control, BoundaryConversions& conversions) noexcept {
  LaneState& state = states_[control.lane()];
  const bool usual = open == nullptr && bind_as_they_are(state, inputs, outputs);
  if (!usual)
    MILLRACE_RETURN_IF_ERROR(contained([&]() -> Status {
      MILLRACE_RETURN_IF_ERROR(prepare(state));
      return stage(state, inputs, outputs, open, conversions);
    }));
  MILLRACE_RETURN_IF_ERROR(state.context->run(state.inputs, state.outputs, control));
  control.end_steps();
  if (usual) [[likely]]
    return {};
  for (size_t i = 0; i < outputs_.size(); ++i)
    outputs_[i].finish_output(outputs[i], state.output_staging[i], conversions);
  return {};
}

void Executor::skip_job(queue::SequenceId job) noexcept {
  if (!program_->is_of_rank()) return;
  queue::SequenceId first = first_skipped_.load(std::memory_order_relaxed);
  // Jobs of different units have no order, so all later jobs fail.
  if (first != kNoJob && queue::unit_of(first) != queue::unit_of(job)) program_->skip_job();
  while ((first == kNoJob || job < first) &&
         !first_skipped_.compare_exchange_weak(first, job, std::memory_order_relaxed)) {
  }
}

std::span<const NameId> Executor::step_names() noexcept {
  try {
    std::call_once(named_steps_, [this] {
      std::vector<NameId> names;
      for (const device::StepInfo& step : program_->info().steps)
        names.push_back(name_id(step.node.empty()
                                    ? step.operation
                                    : fmt::format("{} ({})", step.node, step.operation)));
      step_names_ = std::move(names);
    });
  } catch (const std::exception&) {
    return {};
  }
  return step_names_;
}

std::string Executor::describe(const queue::RunPosition& position) const {
  const auto& partitions = model().partitions;
  std::string kind;
  if (position.partition < partitions.size()) {
    const graph::PartitionKind of = partitions[position.partition].kind;
    if (of != graph::PartitionKind::kNpu) kind = fmt::format(" ({})", graph::name_of(of));
  }
  std::string text = fmt::format("frame {}, partition {}{} of model \"{}\"", position.frame,
                                 position.partition, kind, model().name);
  const device::ProgramInfo info = program_->info();
  if (position.step >= info.steps.size()) return text;
  const device::StepInfo& step = info.steps[position.step];
  text += fmt::format(", operator {} ({}", position.step, step.operation);
  if (!step.node.empty()) text += fmt::format(" \"{}\"", step.node);
  text += ")";
  if (!step.output.empty()) text += fmt::format(", writing \"{}\"", step.output);
  return text;
}

}  // namespace millrace::runtime
