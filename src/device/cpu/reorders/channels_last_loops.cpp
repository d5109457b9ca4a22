#include "device/cpu/reorders/channels_last_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/reorders/channels_last_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::reorders::channels_last::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Element, size_t kBytes>
using Bytes = hn::CappedTag<Element, kBytes / sizeof(Element)>;

// Calls `run` with a vector type that `channels` elements fill, the longest of 64, 32 and 16 bytes
// that there is.
template <class Element, class Run>
void with_vectors(size_t channels, const Run& run) {
  const size_t bytes = channels * sizeof(Element);
  if (bytes >= 64)
    run(Bytes<Element, 64>());
  else if (bytes >= 32)
    run(Bytes<Element, 32>());
  else
    run(Bytes<Element, kLeastBytes>());
}

// Calls `move` for each vector of a pixel's channels. The last one overlaps the one before where
// the channels do not fill it.
template <class D, class Move>
HWY_INLINE void for_vectors(D d, size_t channels, const Move& move) {
  const size_t lanes = hn::Lanes(d), last = channels - lanes;
  for (size_t i = 0; i < last; i += lanes) move(i);
  move(last);
}

void run_copy(const uint8_t* from, uint8_t* to, const Pixels& pixels) {
  with_vectors<uint8_t>(pixels.channels, [&](auto d) {
    for (size_t i = 0; i < pixels.count; ++i) {
      const uint8_t* const in = from + i * pixels.from_distance;
      uint8_t* const out = to + i * pixels.to_distance;
      for_vectors(d, pixels.channels,
                  [&](size_t at) { hn::StoreU(hn::LoadU(d, in + at), d, out + at); });
    }
  });
}

// One of each pair in two vectors that follow each other.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V one_of_each(D d, V low, V high, bool second) {
#if HWY_TARGET == HWY_SCALAR  // whose vectors are single elements
  (void)d;
  return second ? high : low;
#else
  return second ? hn::ConcatOdd(d, high, low) : hn::ConcatEven(d, high, low);
#endif
}

template <class Element>
void run_every_other(const Element* from, bool second, Element* to, const Pixels& pixels) {
  with_vectors<Element>(pixels.channels, [&](auto d) {
    const size_t lanes = hn::Lanes(d);
    for (size_t i = 0; i < pixels.count; ++i) {
      const Element* const in = from + i * pixels.from_distance;
      Element* const out = to + i * pixels.to_distance;
      for_vectors(d, pixels.channels, [&](size_t at) {
        const auto low = hn::LoadU(d, in + 2 * at), high = hn::LoadU(d, in + 2 * at + lanes);
        hn::StoreU(one_of_each(d, low, high, second), d, out + at);
      });
    }
  });
}

void run_bytes(const uint8_t* from, bool second, uint8_t* to, const Pixels& pixels) {
  run_every_other(from, second, to, pixels);
}
void run_shorts(const uint16_t* from, bool second, uint16_t* to, const Pixels& pixels) {
  run_every_other(from, second, to, pixels);
}
void run_words(const uint32_t* from, bool second, uint32_t* to, const Pixels& pixels) {
  run_every_other(from, second, to, pixels);
}

}  // namespace
}  // namespace millrace::device::cpu::reorders::channels_last::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::reorders::channels_last {

HWY_EXPORT(run_copy);
HWY_EXPORT(run_bytes);
HWY_EXPORT(run_shorts);
HWY_EXPORT(run_words);

void copy(const uint8_t* from, uint8_t* to, const Pixels& pixels) noexcept {
  HWY_DYNAMIC_DISPATCH(run_copy)(from, to, pixels);
}

void take_every_other(const uint8_t* from, bool second, uint8_t* to,
                      const Pixels& pixels) noexcept {
  HWY_DYNAMIC_DISPATCH(run_bytes)(from, second, to, pixels);
}
void take_every_other(const uint16_t* from, bool second, uint16_t* to,
                      const Pixels& pixels) noexcept {
  HWY_DYNAMIC_DISPATCH(run_shorts)(from, second, to, pixels);
}
void take_every_other(const uint32_t* from, bool second, uint32_t* to,
                      const Pixels& pixels) noexcept {
  HWY_DYNAMIC_DISPATCH(run_words)(from, second, to, pixels);
}

}  // namespace millrace::device::cpu::reorders::channels_last
#endif  // HWY_ONCE
