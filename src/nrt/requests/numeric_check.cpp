#include "nrt/requests/numeric_check.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/format_status.h"
#include "base/log.h"
#include "tensor/special_values.h"

namespace millrace::nrt {
namespace {

struct Output {
  const graph::Boundary& boundary;
  size_t frame = 0;
  std::span<const std::byte> elements;
};

// Calls visit(output) for each output of each frame until it returns false.
template <class Visit>
void visit_outputs(const Binding& binding, Visit&& visit) {
  const std::vector<graph::Boundary>& outputs = binding.model->executor()->model().outputs;
  for (size_t i = 0; i < binding.outputs.size(); ++i) {
    const graph::Boundary& boundary = outputs[i % outputs.size()];
    const auto* const data = static_cast<const std::byte*>(binding.outputs[i].data);
    if (!visit(Output{boundary, i / outputs.size(), {data, boundary.cpu.bytes()}})) return;
  }
}

void report(const Binding& binding, const Output& output, const tensor::SpecialValues::Found& found,
            std::string_view what) noexcept {
  if (found.count == 0) return;
  log_format(LogLevel::kWarning, "nrt",
             "model \"{}\", output \"{}\", frame {}: {} of {} elements {} {}, the first is {}",
             binding.model->name(), output.boundary.cpu.name, output.frame, found.count,
             output.elements.size() / tensor::size_of(output.boundary.cpu.type),
             found.count == 1 ? "is" : "are", what, found.first);
}

}  // namespace

Status check_for_nan(const Binding& binding) {
  Status status;
  visit_outputs(binding, [&](const Output& output) {
    const std::optional<size_t> element =
        tensor::find_nan(output.boundary.cpu.type, output.elements);
    if (element)
      status =
          format_status(StatusCode::kCorruptData, "element {} of output \"{}\", frame {}, is a NaN",
                        *element, output.boundary.cpu.name, output.frame);
    return !element;
  });
  return status;
}

void report_numerical_errors(const Binding& binding, NumericalErrors reported) noexcept {
  if (reported == NumericalErrors::kNone) return;
  visit_outputs(binding, [&](const Output& output) {
    const tensor::SpecialValues values =
        tensor::find_special_values(output.boundary.cpu.type, output.elements);
    report(binding, output, values.nans, "NaN");
    if (reported == NumericalErrors::kCritical) return true;
    report(binding, output, values.infinities, "infinite");
    report(binding, output, values.subnormals, "subnormal");
    return true;
  });
}

}  // namespace millrace::nrt
