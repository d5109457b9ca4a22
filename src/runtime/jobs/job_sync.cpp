#include "runtime/jobs/job_sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/contained.h"
#include "memory/device_side.h"

namespace millrace::runtime {
namespace {

using Boundaries = std::vector<graph::Boundary>;

// Calls visit(binding, boundary, bytes) for each tensor of which the device has its own copy.
template <class Visit>
void for_each_apart(std::span<const TensorBinding> bindings, const Boundaries& boundaries,
                    Visit&& visit) {
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].device_side == nullptr) continue;
    const graph::Boundary& boundary = boundaries[i % boundaries.size()];
    visit(bindings[i], boundary, boundary.hw->bytes());
  }
}

constexpr const char* kNoMemory = "no memory to sync the tensors of a job";

}  // namespace

bool JobSync::concerns(const JobBindings& bindings) noexcept {
  const auto apart = [](const TensorBinding& binding) { return binding.device_side != nullptr; };
  return std::ranges::any_of(bindings.inputs, apart) ||
         std::ranges::any_of(bindings.outputs, apart);
}

std::string JobSync::label(const char* what, const graph::Boundary& boundary) const {
  return fmt::format("{} \"{}\" of {}", what, boundary.cpu.name, user_);
}

Status JobSync::begin(const graph::CompiledModel& model,
                      const JobBindings& bindings) const noexcept {
  const auto sync = [&] {
    for_each_apart(bindings.inputs, model.inputs,
                   [&](const TensorBinding& binding, auto& boundary, size_t bytes) {
                     if (inputs_) binding.device_side->sync_for_device(binding.data, bytes);
                     binding.device_side->before_read(binding.data, bytes,
                                                      label("input", boundary));
                   });
    for_each_apart(bindings.outputs, model.outputs,
                   [](const TensorBinding& binding, auto&, size_t bytes) {
                     binding.device_side->before_write(binding.data, bytes);
                   });
    return Status();
  };
  return contained(sync, kNoMemory);
}

Status JobSync::end(const graph::CompiledModel& model,
                    std::span<const TensorBinding> outputs) const noexcept {
  const auto sync = [&] {
    for_each_apart(outputs, model.outputs,
                   [&](const TensorBinding& binding, auto& boundary, size_t bytes) {
                     binding.device_side->written(binding.data, bytes, label("output", boundary));
                     if (outputs_) binding.device_side->sync_for_host(binding.data, bytes);
                   });
    return Status();
  };
  return contained(sync, kNoMemory);
}

}  // namespace millrace::runtime
