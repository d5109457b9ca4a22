#include "runtime/jobs/watched_job.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <vector>

#include "runtime/jobs/recorded_job.h"

namespace millrace::runtime {
namespace {

using Boundaries = std::vector<graph::Boundary>;

// The bytes that a job reads or writes; of an open tensor all that the program has bound.
size_t bytes_of(const graph::Boundary& boundary, const TensorBinding& binding,
                std::span<const OpenTensor> open, size_t index) {
  if (binding.data == nullptr) return 0;
  if (boundary.open) return index < open.size() ? open[index].bytes : 0;
  const bool is_hw = binding.view == device::View::kHw && boundary.hw;
  return is_hw ? boundary.hw->bytes() : boundary.cpu.bytes();
}

std::optional<uint64_t> device_copy_of(const TensorBinding& binding) {
  if (binding.device_side == nullptr) return std::nullopt;
  return binding.device_side->address_of(binding.data);
}

std::vector<check::Tensor> tensors_of(const Boundaries& boundaries,
                                      std::span<const TensorBinding> bindings,
                                      std::span<const OpenTensor> open) {
  std::vector<check::Tensor> tensors;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const size_t index = i % boundaries.size();
    tensors.push_back({bindings[i].data, bytes_of(boundaries[index], bindings[i], open, i),
                       boundaries[index].cpu.name, static_cast<uint32_t>(index),
                       static_cast<uint32_t>(i / boundaries.size()), device_copy_of(bindings[i])});
  }
  return tensors;
}

}  // namespace

void watch_job(const graph::CompiledModel& model, const JobBindings& bindings,
               const check::JobTraits& traits) noexcept {
  if (record::on()) record_job(model, bindings);
  if (!check::on()) return;
  try {
    check::begin_job(fmt::format("model \"{}\"", model.name),
                     tensors_of(model.inputs, bindings.inputs, bindings.open_inputs),
                     tensors_of(model.outputs, bindings.outputs, bindings.open_outputs), traits);
  } catch (const std::exception&) {
    // Memory is exhausted: the checker does not see this job.
  }
}

}  // namespace millrace::runtime
