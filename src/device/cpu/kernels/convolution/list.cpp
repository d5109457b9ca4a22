// The kernels for Conv in floating point: the first whose lower() accepts a node computes it. Plans
// also compare those that are planned by their measured times.
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
    // Computes a pointwise (1x1) convolution and the depthwise one behind it as one step. Plans
    // find such pairs (separable/pairs.h).
    {.lower = separable::lower},
    {.lower = depthwise::lower,
     .planned = PlannedKernel{.name = depthwise::kName,
                              .form = Form::kChannelsLast,
                              .can_compute = depthwise::can_compute,
                              .image_layout = channels_last_desc,
                              .time = depthwise::time}},
    // Computes convolutions from one channel to one, whatever form the plan has. oneDNN's BF16
    // kernels spread NaNs and infinities of such an image to windows that do not have them.
    {.lower = one_channel::lower},
    {.lower = few_channels::lower},
    {.lower = winograd::lower,
     .planned = PlannedKernel{.name = winograd::kName,
                              .form = Form::kWinograd,
                              .can_compute = winograd::can_compute,
                              .image_layout = winograd::image_layout,
                              .time = winograd::time,
                              .is_worthwhile = winograd::is_worthwhile}},
    // oneDNN's primitives. Plans measure them in blocks, with channels innermost, and in the layout
    // that oneDNN prefers (plan/times.h).
    {.lower = lower_by_primitive},
};

// Whether each planned kernel has a form of its own: not that of another kernel, of oneDNN's
// kernel on blocks, or of the step of a pair. The forms kChannelsLast and kLibrary may be taken,
// since a kernel that has one of them replaces oneDNN's (implementation.h).
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
