#include "nrt/requests/watched_request.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "check/check.h"
#include "runtime/jobs/watched_job.h"

namespace millrace::nrt {
namespace {

bool is_within(const void* data, const Tensor& tensor) {
  const std::less_equal<const void*> not_after;
  return not_after(tensor.data(), data) && !not_after(tensor.data() + tensor.size(), data);
}

// Outputs that the program does not want are discarded in memory that all executions share: they
// have no memory here.
std::vector<runtime::TensorBinding> wanted_outputs(const Binding& binding) {
  std::vector<runtime::TensorBinding> outputs = binding.outputs;
  for (runtime::TensorBinding& output : outputs)
    if (std::ranges::none_of(binding.written,
                             [&](const auto& tensor) { return is_within(output.data, *tensor); }))
      output.data = nullptr;
  return outputs;
}

const char* name_of_side(const std::shared_ptr<const Storage>& storage) {
  return storage == nullptr ? "buffer of the host" : "tensor";
}

}  // namespace

void watch_execution(const Binding& binding, uint16_t unit, bool writes_status) noexcept {
  try {
    const std::vector<runtime::TensorBinding> outputs = wanted_outputs(binding);
    runtime::watch_job(
        binding.model->executor()->model(), {binding.model->frames(), binding.inputs, outputs},
        {.writes_status = writes_status, .shown_unit = unit, .model = binding.model.get()});
  } catch (const std::exception&) {
    // Memory is exhausted: the checker does not see this request.
  }
}

void watch_transfer(const Transfer& transfer, uint16_t unit, bool writes_status) noexcept {
  const check::Tensor from{transfer.from, transfer.bytes, name_of_side(transfer.source)};
  const check::Tensor to{transfer.to, transfer.bytes, name_of_side(transfer.target)};
  check::begin_job("a transfer unit", {&from, 1}, {&to, 1},
                   {.writes_status = writes_status, .shown_unit = unit});
}

}  // namespace millrace::nrt
