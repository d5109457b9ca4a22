// Running a job: the context checks and binds the caller's tensors, and runs the steps of a frame
// in order. oneDNN's memory objects are made once, over the arena; those over callers' tensors get
// a new address for each job. A frame that loses a NaN in a step that cannot be repeated runs again
// with careful steps (kernels/careful_step.h). Nothing is allocated while a job runs.
#include "device/cpu/program/cpu_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/align.h"

namespace millrace::device::cpu {
namespace {

// The alignment that oneDNN uses for its own memory.
constexpr std::align_val_t kArenaAlignment{kPage};

std::span<const Binding> side(Direction direction, std::span<const Binding> inputs,
                              std::span<const Binding> outputs) {
  return direction == Direction::kInput ? inputs : outputs;
}

// Adds the node where the failure happened.
Status at_step(const Status& status, const ProgramStep& step) {
  if (status.ok()) return status;
  return status.with_context(fmt::format("node \"{}\" ({})", step.info.node, step.info.operation));
}

// Returns null if the buffer does not exist yet.
std::byte* at(std::byte* buffer, size_t offset) {
  return buffer == nullptr ? nullptr : buffer + offset;
}

uint32_t most_helpers(std::span<const ProgramStep> steps) {
  uint32_t threads = 1;
  for (const ProgramStep& step : steps) threads = std::max(threads, step.threads);
  return threads - 1;
}

}  // namespace

void CpuContext::FreeArena::operator()(std::byte* arena) const noexcept {
  ::operator delete(arena, kArenaAlignment);
}

CpuContext::CpuContext(std::shared_ptr<const CpuProgram> program)
    : program_(std::move(program)),
      helpers_(most_helpers(program_->parts().steps)),
      stream_(program_->engine()) {
  place_buffers();
  make_arguments();
  const std::vector<ProgramStep>& steps = program_->parts().steps;
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (steps[i].is_begun) begun_steps_.push_back(i);
  calls_ = std::vector<CollectiveThread::Call>(begun_steps_.size());
}

void CpuContext::place_buffers() {
  const BufferLayout& layout = program_->parts().buffers;
  arena_.reset(static_cast<std::byte*>(::operator new(layout.arena_bytes, kArenaAlignment)));
  std::fill_n(arena_.get(), layout.arena_bytes, std::byte{0});
  for (const BufferLocation& location : layout.locations) {
    std::byte* data = nullptr;
    if (location.constant != nullptr)
      data = const_cast<std::byte*>(location.constant) + location.offset;
    else if (location.arena)
      data = arena_.get() + *location.arena + location.offset;
    if (location.caller) movable_.push_back({static_cast<BufferId>(buffers_.size()), {}});
    buffers_.push_back(data);
  }
}

void CpuContext::make_arguments() {
  std::vector<Movable*> movable(buffers_.size());
  for (Movable& entry : movable_) movable[entry.buffer] = &entry;
  for (const ProgramStep& step : program_->parts().steps) {
    std::vector<dnnl_exec_arg_t> arguments;
    for (const Argument& argument : step.step->arguments()) {
      const auto& [buffer, desc] = argument.operand;
      const size_t offset = argument.offset + bytes_before(desc);
      const dnnl::memory memory(from_first_element(desc), program_->engine(),
                                at(buffers_[buffer], offset));
      memories_.push_back(memory);
      if (movable[buffer] != nullptr) movable[buffer]->objects.push_back({memory, offset});
      arguments.push_back({argument.index, memory.get()});
    }
    arguments_.push_back(std::move(arguments));
  }
}

Status CpuContext::check(Direction direction, std::span<const Binding> bindings) const {
  const graph::CompiledModel& model = program_->model();
  const char* kind = direction == Direction::kInput ? "input" : "output";
  const auto& boundaries = direction == Direction::kInput ? model.inputs : model.outputs;
  if (bindings.size() != boundaries.size())
    return invalid_argument(fmt::format("model \"{}\" has {} {}s, {} were bound", model.name,
                                        boundaries.size(), kind, bindings.size()));
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].data == nullptr && boundaries[i].cpu.bytes() != 0)
      return invalid_argument(
          fmt::format("{} \"{}\" is bound to a null pointer", kind, boundaries[i].cpu.name));
    if (!program_->accepts(direction, i, bindings[i].view))
      return invalid_argument(fmt::format("{} \"{}\" is bound in a view the program does not take",
                                          kind, boundaries[i].cpu.name));
  }
  return {};
}

void CpuContext::bind(std::span<const Binding> inputs, std::span<const Binding> outputs) noexcept {
  const BufferLayout& layout = program_->parts().buffers;
  for (const Movable& entry : movable_) {
    const BufferLocation& location = layout.locations[entry.buffer];
    const Binding& binding =
        side(location.caller->direction, inputs, outputs)[location.caller->index];
    std::byte* data = nullptr;
    if (location.caller->covers(binding.view))
      data = static_cast<std::byte*>(binding.data) + location.offset;
    else if (location.arena)
      data = arena_.get() + *location.arena + location.offset;
    if (data == buffers_[entry.buffer]) continue;
    buffers_[entry.buffer] = data;
    for (const Movable::Object& object : entry.objects)
      set_handle(object.memory, at(data, object.offset));
  }
}

Status CpuContext::run(std::span<const Binding> inputs, std::span<const Binding> outputs,
                       queue::RunControl& control) noexcept {
  return program_->ranks().run([&] { return run_frame(inputs, outputs, control); });
}

Status CpuContext::run_frame(std::span<const Binding> inputs, std::span<const Binding> outputs,
                             queue::RunControl& control) noexcept {
  MILLRACE_RETURN_IF_ERROR(check(Direction::kInput, inputs));
  MILLRACE_RETURN_IF_ERROR(check(Direction::kOutput, outputs));
  bind(inputs, outputs);
  OpenMpThreads threads;
  if (helpers_ != 0 && control.team() != nullptr)
    threads.lead(*control.team(), control.lane(), helpers_);
  begun_ = awaited_ = 0;
  NanWatch nans;
  Status status = run_steps(inputs, outputs, control, threads, nans);
  if (nans.lost_operand) [[unlikely]] {
    nans = {.is_careful = true};
    status = run_steps(inputs, outputs, control, threads, nans);
  }
  // Collectives of a frame that has failed are to end, too.
  if (!status.ok() && awaited_ != begun_) control.request_stop(control.sequence());
  const Status ended = await_collectives(begun_, control);
  return status.ok() ? ended : status;
}

Status CpuContext::await_collectives(uint32_t count, queue::RunControl& control) noexcept {
  Status first_failure;
  for (; awaited_ < count; ++awaited_) {
    const uint32_t step = begun_steps_[awaited_];
    control.begin_step(step);
    const Status status = program_->collectives()->await(calls_[awaited_]);
    if (first_failure.ok()) first_failure = at_step(status, program_->parts().steps[step]);
  }
  return first_failure;
}

Status CpuContext::run_steps(std::span<const Binding> inputs, std::span<const Binding> outputs,
                             queue::RunControl& control, OpenMpThreads& threads,
                             NanWatch& nans) noexcept {
  const std::vector<ProgramStep>& steps = program_->parts().steps;
  std::optional<uint32_t> partition;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(await_collectives(steps[i].awaits, control));
    const auto& only_in = steps[i].only_in;
    if (only_in && side(only_in->direction, inputs, outputs)[only_in->index].view != only_in->view)
      continue;
    if (partition != steps[i].info.partition) {
      partition = steps[i].info.partition;
      control.begin_partition(*partition, i);
    }
    if (control.stop_requested()) return control.stop_status();
    control.begin_step(i);
    threads.set(steps[i].threads);
    const RunState state{control, stream_, buffers_, arguments_[i], &nans};
    if (steps[i].is_begun) {
      program_->collectives()->begin(calls_[begun_++], *steps[i].step, state);
      continue;
    }
    MILLRACE_RETURN_IF_ERROR(at_step(steps[i].step->run(state), steps[i]));
    if (nans.lost_operand) [[unlikely]]
      return {};
  }
  return {};
}

// Here, so that programs do not know contexts, which know them.
Result<std::unique_ptr<Context>> CpuProgram::create_context() const {
  return guarded([this]() -> Result<std::unique_ptr<Context>> {
    return std::unique_ptr<Context>(new CpuContext(shared_from_this()));
  });
}

}  // namespace millrace::device::cpu
