#include "cli/replay/replayed_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/open_tensors.h"
#include "memory/buffer.h"
#include "tensor/conversion/conversion.h"
#include "tensor/tensor_shape.h"

namespace millrace::cli {
namespace {

Result<runtime::TensorBinding> allocate(uint64_t bytes, View view) {
  MILLRACE_ASSIGN_OR_RETURN(
      const memory::Buffer buffer,
      memory::Buffer::allocate(std::max<size_t>(bytes, 1), memory::BufferKind::kHeap));
  return runtime::TensorBinding{buffer.data(), view, buffer.owner()};
}

Status wrong_tensor(const RecordedTensor& tensor, const std::string& reason) {
  return corrupt_data(fmt::format("tensor \"{}\": {}", tensor.name, reason));
}

Status check_view(const graph::Boundary& boundary, const RecordedTensor& tensor) {
  if (tensor.view == View::kHw && !boundary.hw)
    return wrong_tensor(tensor, "the model has no HW view of it");
  return {};
}

// Returns the dimensions and bytes that the tensor has in the model or, if it is open, the record.
Result<uint64_t> bytes_in(const graph::Boundary& boundary, const RecordedTensor& tensor) {
  MILLRACE_RETURN_IF_ERROR(check_view(boundary, tensor));
  if (!boundary.open) return desc_in(boundary, tensor.view).bytes();
  if (!tensor.shape) return wrong_tensor(tensor, "it has open dimensions, and no shape");
  return tensor::bytes_of(*tensor.shape, boundary.cpu.type);
}

Status check_bytes(const RecordedTensor& tensor, uint64_t expected) {
  if (tensor.bytes != expected)
    return wrong_tensor(
        tensor, fmt::format("it has {} bytes, and in the model {}", tensor.bytes, expected));
  if (expected > kMostTensorBytes)
    return wrong_tensor(tensor,
                        fmt::format("{} bytes are more than this command allocates", expected));
  return {};
}

Status fill_randomly(std::byte* memory, size_t elements, tensor::DataType type,
                     std::mt19937& random) {
  if (elements == 0) return {};
  std::normal_distribution<float> normal;
  std::vector<float> values(elements);
  for (float& value : values) value = normal(random);
  const tensor::TensorDesc flat = tensor::make_cpu_desc("random", tensor::DataType::kFloat32,
                                                        {static_cast<uint32_t>(elements)});
  MILLRACE_ASSIGN_OR_RETURN(const auto typed, tensor::make_hw_desc(flat, type));
  MILLRACE_ASSIGN_OR_RETURN(const auto conversion, tensor::Conversion::plan(flat, typed, {}));
  conversion.to_hw(values.data(), memory);
  return {};
}

Status fill(const std::string& folder, const RecordedTensor& tensor,
            const graph::Boundary& boundary, std::byte* memory, std::mt19937& random) {
  if (tensor.file.empty()) {
    const tensor::DataType type = desc_in(boundary, tensor.view).type;
    return fill_randomly(memory, tensor.bytes / tensor::size_of(type), type, random);
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, bytes_of(folder, tensor));
  std::memcpy(memory, bytes.data(), bytes.size());
  return {};
}

bool is_open(const graph::CompiledModel& model) {
  return std::ranges::any_of(model.inputs, &graph::Boundary::open) ||
         std::ranges::any_of(model.outputs, &graph::Boundary::open);
}

Status check_counts(const RecordedJob& job, const graph::CompiledModel& model) {
  const uint64_t frames = job.frames;
  if (frames == 0 || frames > model.batch_size ||
      job.inputs.size() != frames * model.inputs.size() ||
      job.outputs.size() != frames * model.outputs.size())
    return corrupt_data(fmt::format("{} frames, {} inputs and {} outputs do not fit model \"{}\"",
                                    frames, job.inputs.size(), job.outputs.size(), model.name));
  return {};
}

}  // namespace

Result<ReplayedJob> ReplayedJob::make(const Recording& recording, const RecordedJob& job,
                                      const graph::CompiledModel& model, std::mt19937& random) {
  ReplayedJob made;
  made.job_ = &job;
  Status status = check_counts(job, model);
  if (status.ok()) status = made.add_inputs(recording, model, random);
  if (status.ok()) status = made.add_outputs(model);
  if (!status.ok()) return status.with_context(fmt::format("job {}", job.number));
  made.bind(is_open(model));
  return made;
}

Status ReplayedJob::add_inputs(const Recording& recording, const graph::CompiledModel& model,
                               std::mt19937& random) {
  for (size_t i = 0; i < job_->inputs.size(); ++i) {
    const RecordedTensor& tensor = job_->inputs[i];
    const graph::Boundary& boundary = model.inputs[i % model.inputs.size()];
    MILLRACE_ASSIGN_OR_RETURN(const uint64_t bytes, bytes_in(boundary, tensor));
    MILLRACE_RETURN_IF_ERROR(check_bytes(tensor, bytes));
    MILLRACE_ASSIGN_OR_RETURN(inputs_.emplace_back(), allocate(bytes, tensor.view));
    MILLRACE_RETURN_IF_ERROR(fill(recording.folder, tensor, boundary,
                                  static_cast<std::byte*>(inputs_.back().data), random));
    input_shapes_.push_back(tensor.shape.value_or(tensor::shape_of(boundary.cpu.shape)));
  }
  return {};
}

// An open output has the memory that the program gave it.
Status ReplayedJob::add_outputs(const graph::CompiledModel& model) {
  for (size_t i = 0; i < job_->outputs.size(); ++i) {
    const RecordedTensor& tensor = job_->outputs[i];
    const graph::Boundary& boundary = model.outputs[i % model.outputs.size()];
    MILLRACE_RETURN_IF_ERROR(check_view(boundary, tensor));
    const uint64_t bytes = boundary.open ? tensor.bytes : desc_in(boundary, tensor.view).bytes();
    MILLRACE_RETURN_IF_ERROR(check_bytes(tensor, bytes));
    MILLRACE_ASSIGN_OR_RETURN(outputs_.emplace_back(), allocate(bytes, tensor.view));
    boundaries_.push_back(boundary);
  }
  output_shapes_.resize(outputs_.size());
  return {};
}

void ReplayedJob::bind(bool open) {
  bindings_.frames = job_->frames;
  bindings_.inputs = inputs_;
  bindings_.outputs = outputs_;
  if (!open) return;
  for (size_t i = 0; i < inputs_.size(); ++i)
    open_inputs_.push_back({job_->inputs[i].bytes, &input_shapes_[i]});
  for (size_t i = 0; i < outputs_.size(); ++i)
    open_outputs_.push_back({job_->outputs[i].bytes, &output_shapes_[i]});
  bindings_.open_inputs = open_inputs_;
  bindings_.open_outputs = open_outputs_;
}

void ReplayedJob::settle_outputs() {
  for (size_t i = 0; i < boundaries_.size(); ++i) {
    const TensorShape& shape = output_shapes_[i];
    if (boundaries_[i].open)
      boundaries_[i] =
          settled(boundaries_[i], {shape.dims.begin(), shape.dims.begin() + shape.rank});
  }
}

std::span<const std::byte> ReplayedJob::output(size_t index) const {
  const size_t bytes = desc_in(boundaries_[index], outputs_[index].view).bytes();
  return {static_cast<const std::byte*>(outputs_[index].data), bytes};
}

}  // namespace millrace::cli
