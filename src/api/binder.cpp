// The executor checks counts, views and pointers (Executor::check); this file adds the checks that
// need the sizes and shapes of the caller's arguments.
#include "api/binder.h"

#include <fmt/format.h>

#include <new>

#include "runtime/jobs/watched_job.h"
#include "tensor/tensor_shape.h"

namespace millrace::api {
namespace {

// Checks the size of the memory and whether it is writable, which Executor::check cannot know.
Status check_memory(std::span<const TensorArg> args, const std::vector<TensorInfo>& infos,
                    const char* what, bool written) {
  auto info = infos.begin();
  for (const TensorArg& arg : args) {
    const ViewInfo& view = arg.view == View::kHw ? *info->hw : info->cpu;
    if (arg.bytes < view.bytes)
      return invalid_argument(fmt::format("{} \"{}\" takes {} bytes, the memory has {}", what,
                                          info->name, view.bytes, arg.bytes));
    if (written && !arg.writable)
      return invalid_argument(
          fmt::format("{} \"{}\" is bound to read-only memory", what, info->name));
    if (++info == infos.end()) info = infos.begin();  // the next frame
  }
  return {};
}

// Calls visit(arg, info) for every tensor without open dimensions whose argument has a shape.
template <class Visit>
void for_each_static_shape(std::span<const TensorArg> args, const std::vector<TensorInfo>& infos,
                           Visit&& visit) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].shape == nullptr) [[likely]]
      continue;
    const TensorInfo& info = infos[i % infos.size()];
    if (!info.cpu.is_open) visit(args[i], info);
  }
}

Status check_static_shapes(std::span<const TensorArg> inputs,
                           const std::vector<TensorInfo>& infos) {
  Status status;
  for_each_static_shape(inputs, infos, [&](const TensorArg& arg, const TensorInfo& info) {
    if (!status.ok() || tensor::fits(*arg.shape, info.cpu.shape)) return;
    status = invalid_argument(fmt::format("input \"{}\" has the shape {}, not {}", info.name,
                                          tensor::to_string(info.cpu.shape),
                                          tensor::to_string(*arg.shape)));
  });
  return status;
}

void write_static_shapes(std::span<const TensorArg> outputs, const std::vector<TensorInfo>& infos) {
  for_each_static_shape(outputs, infos, [](const TensorArg& arg, const TensorInfo& info) {
    *arg.shape = tensor::shape_of(info.cpu.shape);
  });
}

Status no_memory() {
  return {StatusCode::kOutOfMemory, "no memory for another job"};
}

}  // namespace

Binder::~Binder() {
  if (!storage_) return;
  storage_->tensors.clear();
  storage_->jobs.clear();
  storage_->open.clear();
}

Status Binder::add(const device::Device& device, const Model::Impl* model, const JobArgs& args) {
  if (model == nullptr) return invalid_argument("the model is an empty handle");
  if (!storage_) return no_memory();
  runtime::Executor& executor = *model->executor();
  if (&executor.device() != &device)
    return invalid_argument(fmt::format(
        "model \"{}\" is loaded on another device than that of the unit", executor.model().name));
  try {
    storage_->jobs.push_back({&args, storage_->tensors.size(), storage_->open.size(),
                              executor.has_open_tensors(), static_cast<bool>(args.callback)});
    append(args.inputs);
    append(args.outputs);
    if (executor.has_open_tensors()) [[unlikely]] {
      append_open(args.inputs, model->inputs());
      append_open(args.outputs, model->outputs());
    }
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
  const runtime::JobBindings& bound = bindings(storage_->jobs.size() - 1);
  MILLRACE_RETURN_IF_ERROR(executor.check(bound));
  if (args.strict_zero_copy || model->strict_zero_copy())
    MILLRACE_RETURN_IF_ERROR(executor.check_in_place(bound));
  MILLRACE_RETURN_IF_ERROR(check_memory(args.inputs, model->inputs(), "input", false));
  MILLRACE_RETURN_IF_ERROR(check_memory(args.outputs, model->outputs(), "output", true));
  MILLRACE_RETURN_IF_ERROR(check_static_shapes(args.inputs, model->inputs()));
  write_static_shapes(args.outputs, model->outputs());
  return {};
}

void Binder::append(std::span<const TensorArg> args) {
  for (const TensorArg& arg : args) {
    runtime::TensorBinding& bound = storage_->tensors.emplace_back();
    bound.data = arg.data;
    bound.view = arg.view;
    bound.access = memory::HostAccess::of(arg.data, arg.bytes);
  }
}

// Adds the shapes of open tensors. add() itself checks or writes those of static tensors.
void Binder::append_open(std::span<const TensorArg> args, const std::vector<TensorInfo>& infos) {
  for (size_t i = 0; i < args.size(); ++i) {
    const bool open = !infos.empty() && infos[i % infos.size()].cpu.is_open;
    storage_->open.push_back({args[i].bytes, open ? args[i].shape : nullptr});
  }
}

const runtime::JobBindings& Binder::bindings(size_t index) const noexcept {
  const Bound& job = storage_->jobs[index];
  const std::span<const runtime::TensorBinding> tensors(storage_->tensors);
  const size_t inputs = job.args->inputs.size(), outputs = job.args->outputs.size();
  const size_t open_inputs = job.open ? inputs : 0, open_outputs = job.open ? outputs : 0;
  const std::span<const runtime::OpenTensor> open(storage_->open);
  runtime::JobBindings& bound = storage_->bindings;
  bound.frames = job.args->frames;
  bound.inputs = tensors.subspan(job.first, inputs);
  bound.outputs = tensors.subspan(job.first + inputs, outputs);
  bound.conversions = job.args->conversions;
  bound.span = job.args->span;
  bound.open_inputs = open.subspan(job.first_open, open_inputs);
  bound.open_outputs = open.subspan(job.first_open + open_inputs, open_outputs);
  return bound;
}

void Binder::fill(runtime::JobTask& task, const Model::Impl& model, size_t index) const noexcept {
  const Bound& job = storage_->jobs[index];
  const std::span<const TensorArg> inputs = job.args->inputs, outputs = job.args->outputs;
  const std::span<runtime::TensorBinding> tensors =
      std::span(storage_->tensors).subspan(job.first, inputs.size() + outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) tensors[i].owner = inputs[i].owner;
  for (size_t i = 0; i < outputs.size(); ++i) tensors[inputs.size() + i].owner = outputs[i].owner;
  const runtime::JobBindings& bound = bindings(index);
  if (runtime::jobs_are_watched()) [[unlikely]]
    watch(model, job, bound);
  task.fill_taking(model.executor(), bound, tensors);
}

void Binder::lend(runtime::JobTask& task, const Model::Impl& model) const noexcept {
  if (runtime::jobs_are_watched()) [[unlikely]]
    watch(model, storage_->jobs.back(), storage_->bindings);
  task.lend(*model.executor(), storage_->bindings);
}

void Binder::watch(const Model::Impl& model, const Bound& job,
                   const runtime::JobBindings& bindings) const noexcept {
  runtime::watch_job(model.executor()->model(), bindings,
                     {.has_callback = job.has_callback, .has_handle = true});
}

}  // namespace millrace::api
