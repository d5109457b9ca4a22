// The kernels for Conv in floating point.
#include "device/cpu/kernels/convolution/implementation.h"
#include "device/cpu/kernels/convolution/primitive_step.h"
#include "device/cpu/kernels/depthwise/depthwise.h"
#include "device/cpu/kernels/few_channels/few_channels.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/plane/plane.h"
#include "device/cpu/kernels/separable/separable.h"
#include "device/cpu/kernels/winograd/winograd.h"

namespace millrace::device::cpu::kernels {
namespace {

constexpr Implementation kImplementations[] = {
    // Plans find the pairs that it is for by themselves (separable/pairs.h).
    {.name = "millrace:separable", .form = Form::kSeparable, .lower = separable::lower},
    {.name = "millrace:depthwise",
     .form = Form::kChannelsLast,
     .can_compute = depthwise::can_compute,
     .image_layout = depthwise::layout_for,
     .time = depthwise::time,
     .lower = depthwise::lower},
    // From one channel to one, in any form. oneDNN's BF16 kernels spread NaNs and infinities of an
    // image of one channel to windows that do not have them.
    {.name = "millrace:plane", .form = Form::kBlocked, .lower = plane::lower},
    {.name = "millrace:few-channels", .form = Form::kChannelsLast, .lower = few_channels::lower},
    {.name = "millrace:winograd",
     .form = Form::kWinograd,
     .can_compute = winograd::can_compute,
     .image_layout = winograd::image_layout,
     .time = winograd::time,
     .is_worthwhile = winograd::is_worthwhile,
     .lower = winograd::lower},
    // Plans measure each of its layouts (plan/times.h).
    {.name = "oneDNN", .form = Form::kLibrary, .lower = lower_by_primitive},
};

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
