// Form: one way to make the step of a convolution, by the layout of its images and the algorithm.
// The fastest form depends on the processor and on the neighbours, since images that lie in another
// layout are reordered.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "device/cpu/dnnl/desc.h"

namespace millrace::device::cpu {

enum class Form : uint8_t {
  kBlocked,       // channels in blocks
  kChannelsLast,  // channels innermost
  kLibrary,       // the layouts that oneDNN prefers
  kWinograd,      // channels in blocks, by Winograd's algorithm (kernels/winograd)
  // Fused with the depthwise convolution that follows, or with the 1x1 convolution before it
  // (kernels/separable). Channels are as in the usual form of the type.
  kSeparable,
};
inline constexpr std::array kForms{Form::kBlocked, Form::kChannelsLast, Form::kLibrary,
                                   Form::kWinograd, Form::kSeparable};

// "blocked", "channels-last", "library", "winograd", "separable"
const char* name_of(Form form) noexcept;
// Whether the form is a kernel of the device's own, not a primitive of oneDNN.
bool is_own(Form form) noexcept;
// Whether kernels of our own may take images whose channels lie innermost in this form.
bool is_innermost(Form form) noexcept;
// The form of that name, if there is one.
std::optional<Form> form_named(std::string_view name) noexcept;

// The form that the rule has for most convolutions in `type` on this processor; plan.h has the
// exceptions.
Form usual_form(ElementType type) noexcept;

}  // namespace millrace::device::cpu
