// The row kernels with Highway, compiled once per instruction set. All instruction sets must give
// the same bits, so the file is compiled without contraction of products and sums to fused
// multiply-adds (see CMakeLists.txt).
#include "vision/preprocess/kernels.h"

#include <algorithm>

// SSSE3 is excluded: on that target rounding depends on the rounding mode of the thread.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vision/preprocess/kernels.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::vision::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // the scalar target has no vectors

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::Rebind<int32_t, Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;
using AllBytes = hn::Repartition<uint8_t, Floats>;
using Shorts = hn::Repartition<int16_t, Floats>;
using PairBytes = hn::Rebind<uint8_t, Shorts>;
using Pixel = hn::FixedTag<float, kLanes>;
using V = hn::Vec<Floats>;

HWY_INLINE V load_bytes(const uint8_t* bytes) {
  return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), hn::LoadU(Bytes(), bytes)));
}

// Returns the indices with which TableLookupBytes interleaves the lanes of a pixel with those of
// its neighbour.
hn::Vec<Shorts> pair_table(size_t pixel_bytes) {
  alignas(16) std::array<uint8_t, kPairWeights * sizeof(int16_t)> table;
  for (size_t i = 0; i < table.size(); ++i) {
    const size_t lane = i / sizeof(int32_t), neighbour = i / sizeof(int16_t) % 2;
    table[i] = static_cast<uint8_t>((lane + neighbour * pixel_bytes) * sizeof(int16_t) + i % 2);
  }
  return hn::BitCast(Shorts(), hn::LoadDup128(AllBytes(), table.data()));
}

// Returns the weighted sums of one vector of pairs, in units of 1 / kWeightOne. The multiply-add of
// adjacent 16-bit lanes (pmaddwd on x86) computes each sum of two products exactly.
HWY_INLINE V sum_pairs(const uint8_t* pairs, hn::Vec<Shorts> table, hn::Vec<Shorts> weights) {
  const Shorts d;
  const auto wide = hn::PromoteTo(d, hn::LoadU(PairBytes(), pairs));
  auto odd = hn::Zero(Ints());
  const auto even = hn::ReorderWidenMulAccumulate(Ints(), hn::TableLookupBytes(wide, table),
                                                  weights, hn::Zero(Ints()), odd);
  return hn::ConvertTo(Floats(), hn::RearrangeToOddPlusEven(even, odd));
}

void interpolate(const PairRow& upper, const PairRow& lower, const int16_t* weights, float down,
                 size_t pixels, float* to) {
  const Floats d;
  const size_t step = hn::Lanes(d) / kLanes;
  const auto table = pair_table(upper.pixel_bytes);
  const V fraction = hn::Set(d, down), unit = hn::Set(d, 1.0f / kWeightOne);
  for (size_t i = 0; i < pixels; i += step) {
    const auto across = hn::LoadU(Shorts(), weights + kPairWeights * i);
    const V above = sum_pairs(upper.pairs + kPairBytes * i, table, across);
    const V below = sum_pairs(lower.pairs + kPairBytes * i, table, across);
    const V sum = hn::Add(above, hn::Mul(hn::Sub(below, above), fraction));
    hn::StoreU(hn::Mul(sum, unit), d, to + kLanes * i);
  }
}

void weigh(const uint8_t* bytes, float weight, size_t count, float* sums) {
  const Floats d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::Mul(load_bytes(bytes + i), hn::Set(d, weight)), d, sums + i);
  for (; i < count; ++i) sums[i] = static_cast<float>(bytes[i]) * weight;
}

void add_weighed(const uint8_t* bytes, float weight, size_t count, float* sums) {
  const Floats d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const V term = hn::Mul(load_bytes(bytes + i), hn::Set(d, weight));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), term), d, sums + i);
  }
  for (; i < count; ++i) sums[i] += static_cast<float>(bytes[i]) * weight;
}

void sum_pixels(const float* pixels, size_t stride, std::span<const float> weights, float* to) {
  const Pixel d;
  auto sum = hn::Zero(d);
  for (const float weight : weights) {
    sum = hn::Add(sum, hn::Mul(hn::LoadU(d, pixels), hn::Set(d, weight)));
    pixels += stride;
  }
  hn::StoreU(sum, d, to);
}

HWY_INLINE hn::Vec<Bytes> to_byte(V value) {
  const Floats d;
  const V clamped = hn::Min(hn::Max(value, hn::Zero(d)), hn::Set(d, 255.0f));
  return hn::DemoteTo(Bytes(), hn::NearestInt(clamped));
}

void yuv_to_rgb(const uint8_t* y, const uint8_t* u, const uint8_t* v, size_t pixels, uint8_t* to) {
  const Floats d;
  for (size_t i = 0; i < pixels; i += hn::Lanes(d)) {
    const V luma = hn::Mul(hn::Sub(load_bytes(y + i), hn::Set(d, 16.0f)), hn::Set(d, bt601::kLuma));
    const V cb = hn::Sub(load_bytes(u + i), hn::Set(d, 128.0f));
    const V cr = hn::Sub(load_bytes(v + i), hn::Set(d, 128.0f));
    const V red = hn::Add(luma, hn::Mul(cr, hn::Set(d, bt601::kRedOfCr)));
    const V green = hn::Sub(hn::Sub(luma, hn::Mul(cb, hn::Set(d, bt601::kGreenOfCb))),
                            hn::Mul(cr, hn::Set(d, bt601::kGreenOfCr)));
    const V blue = hn::Add(luma, hn::Mul(cb, hn::Set(d, bt601::kBlueOfCb)));
    hn::StoreInterleaved4(to_byte(red), to_byte(green), to_byte(blue), hn::Zero(Bytes()), Bytes(),
                          to + kLanes * i);
  }
}

// Returns the indices with which TableLookupBytes permutes the lanes of each pixel as a rule
// demands.
hn::Vec<AllBytes> lane_table(const LaneRule& rule) {
  alignas(16) std::array<uint8_t, kLanes * sizeof(float)> table;
  for (size_t i = 0; i < table.size(); ++i)
    table[i] =
        static_cast<uint8_t>(rule.source[i / sizeof(float)] * sizeof(float) + i % sizeof(float));
  return hn::LoadDup128(AllBytes(), table.data());
}

HWY_INLINE V every_pixel(const std::array<float, kLanes>& lanes) {
  alignas(16) std::array<float, kLanes> aligned = lanes;
  return hn::LoadDup128(Floats(), aligned.data());
}

// Applies a rule to one vector of lanes.
HWY_INLINE V apply_rule(const float* from, hn::Vec<AllBytes> table, V mean, V scale, V factor) {
  const Floats d;
  const auto bytes = hn::BitCast(AllBytes(), hn::LoadU(d, from));
  const V ordered = hn::BitCast(d, hn::TableLookupBytes(bytes, table));
  return hn::Mul(hn::Mul(hn::Sub(ordered, mean), scale), factor);
}

void apply(const LaneRule& rule, const float* from, size_t pixels, float* to) {
  const Floats d;
  const auto table = lane_table(rule);
  const V mean = every_pixel(rule.mean), scale = every_pixel(rule.scale);
  const V factor = every_pixel(rule.factor);
  for (size_t i = 0; i < kLanes * pixels; i += hn::Lanes(d))
    hn::StoreU(apply_rule(from + i, table, mean, scale, factor), d, to + i);
}

HWY_INLINE hn::Vec<Bytes> to_byte(V value, V lowest, V highest) {
  const Floats d;
  const V clamped = hn::Min(hn::Max(value, lowest), highest);
  const V number = hn::IfThenElseZero(hn::Eq(value, value), clamped);
  // Adding 1.5 * 2^23 rounds to an integer, to nearest even, and leaves it in the low bits of the
  // significand.
  const auto whole = hn::BitCast(Ints(), hn::Add(number, hn::Set(d, 0x1.8p+23f)));
  return hn::DemoteTo(Bytes(), hn::And(whole, hn::Set(Ints(), 0xff)));
}

void apply_to_bytes(const LaneRule& rule, const ByteRange& range, const float* from, size_t pixels,
                    uint8_t* to) {
  const Floats d;
  const size_t count = kLanes * pixels, step = hn::Lanes(d);
  if (count < step) return portable_kernels().apply_to_bytes(rule, range, from, pixels, to);
  const auto table = lane_table(rule);
  const V mean = every_pixel(rule.mean), scale = every_pixel(rule.scale);
  const V factor = every_pixel(rule.factor);
  const V lowest = hn::Set(d, static_cast<float>(range.lowest));
  const V highest = hn::Set(d, static_cast<float>(range.highest));
  for (size_t i = 0; i < count; i += step) {
    // The last vector ends at the last lane. Where it overlaps the one before, it stores the same.
    const size_t at = std::min(i, count - step);
    const V values = apply_rule(from + at, table, mean, scale, factor);
    hn::StoreU(to_byte(values, lowest, highest), Bytes(), to + at);
  }
}

void pack(const float* from, size_t pixels, float* to) {
  const Floats d;
  V a, b, c, rest;
  for (size_t i = 0; i < pixels; i += hn::Lanes(d)) {
    hn::LoadInterleaved4(d, from + kLanes * i, a, b, c, rest);
    hn::StoreInterleaved3(a, b, c, d, to + 3 * i);
  }
}

void split(const float* from, size_t pixels, const std::array<float*, 3>& to) {
  const Floats d;
  V a, b, c, rest;
  for (size_t i = 0; i < pixels; i += hn::Lanes(d)) {
    hn::LoadInterleaved4(d, from + kLanes * i, a, b, c, rest);
    hn::StoreU(a, d, to[0] + i);
    hn::StoreU(b, d, to[1] + i);
    hn::StoreU(c, d, to[2] + i);
  }
}

void sum_lanes(const float* from, size_t pixels, float* to) {
  const Floats d;
  V a, b, c, rest;
  for (size_t i = 0; i < pixels; i += hn::Lanes(d)) {
    hn::LoadInterleaved4(d, from + kLanes * i, a, b, c, rest);
    hn::StoreU(hn::Add(hn::Add(a, b), c), d, to + i);
  }
}

const Kernels* all_kernels() {
  static constexpr Kernels kKernels = {interpolate, weigh,    add_weighed,    sum_pixels,
                                       yuv_to_rgb,  apply,    apply_to_bytes, pack,
                                       split,       sum_lanes};
  return &kKernels;
}

#else

const Kernels* all_kernels() {
  return &portable_kernels();
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace millrace::vision::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::vision {

HWY_EXPORT(all_kernels);

const Kernels& kernels() {
  return *HWY_DYNAMIC_DISPATCH(all_kernels)();
}

}  // namespace millrace::vision
#endif  // HWY_ONCE
