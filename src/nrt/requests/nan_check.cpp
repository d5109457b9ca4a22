#include "nrt/requests/nan_check.h"

#include <cstddef>
#include <optional>
#include <span>

#include "base/format_status.h"
#include "tensor/nan.h"

namespace millrace::nrt {

Status check_for_nan(const Binding& binding) {
  const std::vector<graph::Boundary>& outputs = binding.model->executor()->model().outputs;
  for (size_t i = 0; i < binding.outputs.size(); ++i) {
    const tensor::TensorDesc& output = outputs[i % outputs.size()].cpu;
    const std::span elements(static_cast<const std::byte*>(binding.outputs[i].data),
                             output.bytes());
    if (const std::optional<size_t> element = tensor::find_nan(output.type, elements))
      return format_status(StatusCode::kCorruptData,
                           "element {} of output \"{}\", frame {}, is a NaN", *element, output.name,
                           i / outputs.size());
  }
  return {};
}

}  // namespace millrace::nrt
