// The kernels for Conv in floating point.
#include <array>
#include <utility>

#include "device/cpu/kernels/convolution/implementation.h"
#include "device/cpu/kernels/convolution/primitive_step.h"
#include "device/cpu/kernels/depthwise/depthwise.h"
#include "device/cpu/kernels/few_channels/few_channels.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/one_channel/one_channel.h"
#include "device/cpu/kernels/separable/separable.h"
#include "device/cpu/kernels/winograd/winograd.h"

namespace millrace::device::cpu::kernels {
namespace {

constexpr Implementation kImplementations[] = {
    // Plans find the pairs of convolutions that it is for by themselves (separable/pairs.h).
    {.lower = separable::lower},
    {.lower = depthwise::lower,
     .planned = PlannedKernel{.name = depthwise::kName,
                              .form = Form::kChannelsLast,
                              .can_compute = depthwise::can_compute,
                              .image_layout = channels_last_desc,
                              .time = depthwise::time}},
    // From one channel to one, in any form. oneDNN's BF16 kernels spread NaNs and infinities of an
    // image of one channel to windows that do not have them.
    {.lower = one_channel::lower},
    {.lower = few_channels::lower},
    {.lower = winograd::lower,
     .planned = PlannedKernel{.name = winograd::kName,
                              .form = Form::kWinograd,
                              .can_compute = winograd::can_compute,
                              .image_layout = winograd::image_layout,
                              .time = winograd::time,
                              .is_worthwhile = winograd::is_worthwhile}},
    // oneDNN's primitives. Plans measure each of their layouts (plan/times.h).
    {.lower = lower_by_primitive},
};

// Whether each planned kernel has a form that neither another one has, nor the candidates that
// plans add by themselves: oneDNN's kernel on blocks, and the step of a pair.
consteval bool have_forms_of_their_own() {
  std::array<bool, kForms.size()> is_taken{};
  for (const Form form : {Form::kBlocked, Form::kSeparable})
    is_taken[static_cast<size_t>(form)] = true;
  for (const Implementation& each : kImplementations)
    if (each.planned && std::exchange(is_taken[static_cast<size_t>(each.planned->form)], true))
      return false;
  return true;
}
static_assert(have_forms_of_their_own());

}  // namespace

std::span<const Implementation> convolution_implementations() noexcept {
  return kImplementations;
}

Status lower(Builder& builder, const Node& node, const graph::Conv& op) {
  for (const Implementation& implementation : kImplementations) {
    MILLRACE_ASSIGN_OR_RETURN(const bool lowered, implementation.lower(builder, node, op));
    if (lowered) return {};
  }
  return unsupported("oneDNN has no convolution of this shape");
}

}  // namespace millrace::device::cpu::kernels
