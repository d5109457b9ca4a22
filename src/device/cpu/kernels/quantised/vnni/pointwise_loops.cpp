// A matrix product [pixels, channels] x [channels, result channels] by VPDPBUSD. A register tile
// has 16 vectors of sums: 16 pixels of 16 result channels, or 4 pixels of 64. A word of four
// channels of a pixel is broadcast and multiplied by the filters of 16 result channels at a time.
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/quantised/vnni/pointwise_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/quantised/vnni/addition-inl.h"
#include "device/cpu/kernels/quantised/vnni/sums-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX3
MILLRACE_BEFORE_VNNI
namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE {
namespace {

// The number of sums that fit into the registers beside the operands that they are made of.
constexpr size_t kMostSums = 16;
// The number of pixels whose sums for a narrow group fit.
constexpr size_t kPixels = kMostSums;

// Broadcasts a word of a pixel to all lanes.
template <bool kSigned>
HWY_INLINE hn::Vec<Bytes> word_at(const uint8_t* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof(word));
  constexpr int32_t kShift = kSigned ? static_cast<int32_t>(0x80808080u) : 0;
  return hn::BitCast(Bytes(), hn::Set(Ints(), word ^ kShift));
}

// The operands and the result of a group of channels.
struct GroupWork {
  const uint8_t* image;
  const int8_t* filters;
  ScalingView scaling;
  const uint8_t* residual;
  uint8_t* to;
  size_t plane, pixel;  // from one to the next, in the result
};

// Tests for each pixel whether a residual is added: in loops that are compiled for additions only,
// g++ 12 keeps the scales and zero points of the addition in registers, which the sums need.
template <class Kind, size_t kVectors>
HWY_INLINE void store(const PointwiseLayer& layer, const Sums<Kind, kVectors>& sums,
                      const GroupWork& work, size_t pixel) {
  const Requantisation& requantisation = layer.encoding.requantisation;
  const size_t at = pixel * work.pixel;
  uint8_t* const to = work.to + at;
  if constexpr (kVectors > 1) {
    if (work.residual != nullptr)
      return store_sum(sums, layer.encoding, *layer.addition, work.scaling, work.residual + at, to);
    if (work.plane != 0)
      return store_quarters(sums.bytes(requantisation, work.scaling), to, work.plane);
  }
  sums.store(requantisation, work.scaling, to);
}

// Computes kCount pixels for a group of channels, from `pixel` on.
template <class Kind, size_t kVectors, size_t kCount>
HWY_INLINE void multiply(const PointwiseLayer& layer, const GroupWork& work, size_t pixel) {
  const uint8_t* const image = work.image + pixel * layer.channels_in;
  const int8_t* filters = work.filters;
  Sums<Kind, kVectors> sums[kCount];
  for (auto& each : sums) each.start(work.scaling);
  for (size_t k = 0; k < layer.channels_in; k += kWordBytes, filters += kVectors * kWide) {
    hn::Vec<SignedBytes> taps[kVectors];
    for (size_t i = 0; i < kVectors; ++i) {
      taps[i] = hn::LoadU(SignedBytes(), filters + i * kWide);
      keep_in_register(taps[i]);
    }
    for (size_t i = 0; i < kCount; ++i) {
      const auto word = word_at<Kind::signed_image>(image + i * layer.channels_in + k);
      for (size_t vector = 0; vector < kVectors; ++vector) {
        sums[i].add(vector, word, taps[vector]);
        keep_in_register(sums[i].sums[vector]);
      }
    }
  }
  for (size_t i = 0; i < kCount; ++i) store(layer, sums[i], work, pixel + i);
}

// Multiplies as many pixels at a time as there are registers for.
template <class Kind, size_t kVectors, size_t kCount>
HWY_INLINE void multiply_group(const PointwiseLayer& layer, const GroupWork& work) {
  constexpr size_t kAtOnce = kCount * kVectors < kMostSums ? kCount : kMostSums / kVectors;
  for (size_t pixel = 0; pixel < kCount; pixel += kAtOnce)
    multiply<Kind, kVectors, kAtOnce>(layer, work, pixel);
}

// Computes kCount pixels for all channels.
template <class Kind, size_t kCount>
HWY_INLINE void multiply_channels(const PointwiseLayer& layer, const PointwiseWork& work,
                                  size_t pixel) {
  const bool in_planes = work.plane != 0;
  GroupWork group{.image = work.image + pixel * layer.channels_in,
                  .filters = work.filters,
                  .scaling = work.scaling,
                  .residual = nullptr,
                  .to = nullptr,
                  .plane = work.plane,
                  .pixel = in_planes ? kNarrow : layer.channels_out};
  for (size_t at = 0; at < layer.channels_out;) {
    const auto [first, size] = group_at(layer.channels_out, at);
    group.to =
        work.result + pixel * group.pixel + (in_planes ? first / kNarrow * work.plane : first);
    if (work.residual != nullptr) group.residual = work.residual + pixel * group.pixel + first;
    if (size == kWide)
      multiply_group<Kind, kWideVectors, kCount>(layer, group);
    else
      multiply_group<Kind, 1, kCount>(layer, group);
    at = first + size;
    group.filters += size * layer.channels_in;
    group.scaling.skip(size);
  }
}

template <class Kind>
void multiply_pixels(const PointwiseLayer& layer, const PointwiseWork& work) {
  size_t pixel = 0;
  for (; pixel + kPixels <= work.pixels; pixel += kPixels)
    multiply_channels<Kind, kPixels>(layer, work, pixel);
  constexpr size_t kFew = 4;
  for (; pixel + kFew <= work.pixels; pixel += kFew)
    multiply_channels<Kind, kFew>(layer, work, pixel);
  for (; pixel < work.pixels; ++pixel) multiply_channels<Kind, 1>(layer, work, pixel);
}

void run_work(const PointwiseLayer& layer, const PointwiseWork& work) {
  with_kind(layer.encoding, layer.addition,
            [&]<class Kind>(Kind) { multiply_pixels<Kind>(layer, work); });
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::vnni::HWY_NAMESPACE
MILLRACE_AFTER_VNNI
#endif

#if HWY_ONCE
namespace millrace::device::cpu::kernels::quantised::vnni {

std::vector<int8_t> arranged_pointwise(const PointwiseLayer& layer,
                                       const std::vector<int8_t>& filters) {
  std::vector<int8_t> arranged;
  arranged.reserve(filters.size());
  for (const Group& group : groups_of(layer.channels_out))
    for (size_t k = 0; k < layer.channels_in; k += kWordBytes)
      for (size_t i = 0; i < group.size * kWordBytes; ++i)
        arranged.push_back(
            filters[group.channel(i / kWordBytes) * layer.channels_in + k + i % kWordBytes]);
  return arranged;
}

void run([[maybe_unused]] const PointwiseLayer& layer,
         [[maybe_unused]] const PointwiseWork& work) noexcept {
#if HWY_TARGETS & HWY_AVX3
  N_AVX3::run_work(layer, work);
#endif
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
#endif  // HWY_ONCE
