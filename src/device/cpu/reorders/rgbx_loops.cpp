#include "device/cpu/reorders/rgbx_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/reorders/rgbx_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::reorders::rgbx::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void run_compact(const uint16_t* from, uint16_t* to, size_t pixels) {
  const hn::ScalableTag<uint16_t> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    hn::Vec<decltype(d)> a, b, c, unused;
    hn::LoadInterleaved4(d, from + kRoom * i, a, b, c, unused);
    hn::StoreInterleaved3(a, b, c, d, to + kChannels * i);
  }
  for (; i < pixels; ++i) std::copy_n(from + kRoom * i, kChannels, to + kChannels * i);
}

void run_split(const float* from, float* to, size_t plane, size_t pixels) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    hn::Vec<decltype(d)> a, b, c, unused;
    hn::LoadInterleaved4(d, from + kRoom * i, a, b, c, unused);
    hn::StoreU(a, d, to + i);
    hn::StoreU(b, d, to + plane + i);
    hn::StoreU(c, d, to + 2 * plane + i);
  }
  for (; i < pixels; ++i)
    for (size_t channel = 0; channel < kChannels; ++channel)
      to[channel * plane + i] = from[kRoom * i + channel];
}

}  // namespace
}  // namespace millrace::device::cpu::reorders::rgbx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::reorders::rgbx {

HWY_EXPORT(run_compact);
HWY_EXPORT(run_split);

void compact(const uint16_t* from, uint16_t* to, size_t pixels) noexcept {
  HWY_DYNAMIC_DISPATCH(run_compact)(from, to, pixels);
}

void split(const float* from, float* to, size_t plane, size_t pixels) noexcept {
  HWY_DYNAMIC_DISPATCH(run_split)(from, to, plane, pixels);
}

}  // namespace millrace::device::cpu::reorders::rgbx
#endif  // HWY_ONCE
