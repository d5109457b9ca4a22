#include "api/binder.h"

#include <fmt/format.h>

#include <new>

namespace millrace::api {
namespace {

// What Executor::check cannot see: how much memory there is, and whether it may be written.
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
          fmt::format("{} \"{}\" is bound to memory that is read only", what, info->name));
    if (++info == infos.end()) info = infos.begin();  // the next frame
  }
  return {};
}

Status no_memory() {
  return {StatusCode::kOutOfMemory, "no memory for another job"};
}

}  // namespace

Binder::~Binder() {
  if (!storage_) return;
  storage_->tensors.clear();
  storage_->jobs.clear();
}

Status Binder::add(const device::Device& device, const Model::Impl* model, const JobArgs& args) {
  if (model == nullptr) return invalid_argument("the model is an empty handle");
  if (!storage_) return no_memory();
  runtime::Executor& executor = *model->executor();
  if (&executor.device() != &device)
    return invalid_argument(fmt::format(
        "model \"{}\" is loaded on another device than the unit is for", executor.model().name));
  try {
    storage_->jobs.push_back({args.frames, storage_->tensors.size(), args.inputs.size(),
                              args.outputs.size(), args.conversions});
    append(args.inputs);
    append(args.outputs);
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
  const runtime::JobBindings bound = bindings(storage_->jobs.size() - 1);
  MILLRACE_RETURN_IF_ERROR(executor.check(bound));
  if (args.strict_zero_copy || model->strict_zero_copy())
    MILLRACE_RETURN_IF_ERROR(executor.check_in_place(bound));
  MILLRACE_RETURN_IF_ERROR(check_memory(args.inputs, model->inputs(), "input", false));
  return check_memory(args.outputs, model->outputs(), "output", true);
}

void Binder::append(std::span<const TensorArg> args) {
  for (const TensorArg& arg : args)
    storage_->tensors.push_back({.data = arg.data,
                                 .view = arg.view,
                                 .owner = arg.owner,
                                 .access = memory::HostAccess::of(arg.data, arg.bytes)});
}

runtime::JobBindings Binder::bindings(size_t index) const noexcept {
  const Bound& job = storage_->jobs[index];
  const std::span<const runtime::TensorBinding> tensors(storage_->tensors);
  return {job.frames, tensors.subspan(job.first, job.inputs),
          tensors.subspan(job.first + job.inputs, job.outputs), nullptr, job.conversions};
}

}  // namespace millrace::api
