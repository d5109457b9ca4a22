#include "device/cpu/builder/form.h"

#include <algorithm>

#include "base/process/topology.h"

namespace millrace::device::cpu {

const char* name_of(Form form) noexcept {
  switch (form) {
    case Form::kBlocked:
      return "blocked";
    case Form::kChannelsLast:
      return "channels-last";
    case Form::kLibrary:
      return "library";
    case Form::kWinograd:
      return "winograd";
    case Form::kSeparable:
      return "separable";
  }
  return "unknown";
}

bool is_own(Form form) noexcept {
  return form == Form::kWinograd || form == Form::kSeparable;
}

bool is_innermost(Form form) noexcept {
  return form == Form::kLibrary || form == Form::kChannelsLast;
}

std::optional<Form> form_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(kForms, name, [](Form form) { return name_of(form); });
  if (found == kForms.end()) return std::nullopt;
  return *found;
}

// Kernels on blocks are as fast as any with AVX2 and AVX-512, and blocks join and split without
// copies. AMX, which multiplies BF16 several times as fast, is used with channels innermost only.
Form usual_form(ElementType type) noexcept {
  const bool by_tiles = type == ElementType::bf16 && topology().features.amx_bf16;
  return by_tiles ? Form::kLibrary : Form::kBlocked;
}

}  // namespace millrace::device::cpu
