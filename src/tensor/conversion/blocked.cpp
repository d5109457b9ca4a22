// The kernels of BlockKernels: they convert between planes of one channel each (NCHW) and pixels of
// one block of channels each (HCWNC).
//
// A pixel of a block is a few 32-bit words. Each vector holds the same word of neighbouring pixels:
// the channels of that word are encoded into 32-bit lanes and combined by shifts, then the words
// are interleaved on the way to memory: by Highway for up to four words per pixel, and by a 4x4
// transposition in registers for more. Unpacking does the opposite.
#include "tensor/conversion/kernels.h"

// The SSSE3 target is left out, since its rounding follows the rounding mode of the thread.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/conversion/blocked.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
#include "tensor/conversion/codecs-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::tensor::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // on the scalar target the strided kernels are used

using Vector128 = hn::FixedTag<uint32_t, 4>;
using VectorFull = hn::ScalableTag<uint32_t>;

// Transposes a 4x4 matrix of words: from vectors of one word of four pixels each to vectors of the
// four words of one pixel each. It is its own inverse.
template <class V>
HWY_INLINE void transpose(V& a, V& b, V& c, V& d) {
  const Vector128 tag;
  const hn::Repartition<uint64_t, Vector128> pair;
  const auto ab_low = hn::BitCast(pair, hn::InterleaveLower(tag, a, b));
  const auto ab_high = hn::BitCast(pair, hn::InterleaveUpper(tag, a, b));
  const auto cd_low = hn::BitCast(pair, hn::InterleaveLower(tag, c, d));
  const auto cd_high = hn::BitCast(pair, hn::InterleaveUpper(tag, c, d));
  a = hn::BitCast(tag, hn::InterleaveLower(pair, ab_low, cd_low));
  b = hn::BitCast(tag, hn::InterleaveUpper(pair, ab_low, cd_low));
  c = hn::BitCast(tag, hn::InterleaveLower(pair, ab_high, cd_high));
  d = hn::BitCast(tag, hn::InterleaveUpper(pair, ab_high, cd_high));
}

// Packs or unpacks as many pixels as a vector of D has lanes. Words of a pixel are processed in
// groups of up to four.
template <class Codec, size_t kBlock, class D>
struct Pixels {
  static constexpr size_t kPerWord = 4 / Codec::kBytes;
  static constexpr size_t kWords = kBlock / kPerWord;
  static constexpr int kBits = 8 * Codec::kBytes;
  using V = hn::Vec<D>;

  const Codec& codec;
  size_t plane_stride;
  size_t channels;
  uint32_t padding;  // the encoded zero, for channels that do not exist

  // Encodes one channel of the word and shifts it to its position in the word.
  template <size_t kPosition>
  HWY_INLINE V pack_lane(const float* planes, size_t word) const {
    const D d;
    const size_t channel = word * kPerWord + kPosition;
    if (channel >= channels) return hn::ShiftLeft<kPosition * kBits>(hn::Set(d, padding));
    const auto values = hn::LoadU(FloatTag<D>(), planes + channel * plane_stride);
    return hn::ShiftLeft<kPosition * kBits>(codec.encode(d, hn::BitCast(d, values)));
  }

  HWY_INLINE V pack_word(const float* planes, size_t word) const {
    V result = pack_lane<0>(planes, word);
    if constexpr (kPerWord >= 2) result = hn::Or(result, pack_lane<1>(planes, word));
    if constexpr (kPerWord == 4) {
      result = hn::Or(result, pack_lane<2>(planes, word));
      result = hn::Or(result, pack_lane<3>(planes, word));
    }
    return result;
  }

  template <size_t kPosition>
  HWY_INLINE void unpack_lane(V lanes, float* planes, size_t word) const {
    const D d;
    const size_t channel = word * kPerWord + kPosition;
    if (channel >= channels) return;
    V lane = hn::ShiftRight<kPosition * kBits>(lanes);
    if constexpr (kPerWord > 1) lane = hn::And(lane, hn::Set(d, (1u << (kBits % 32)) - 1));
    hn::StoreU(hn::BitCast(FloatTag<D>(), codec.decode(d, lane)), FloatTag<D>(),
               planes + channel * plane_stride);
  }

  HWY_INLINE void unpack_word(V lanes, float* planes, size_t word) const {
    unpack_lane<0>(lanes, planes, word);
    if constexpr (kPerWord >= 2) unpack_lane<1>(lanes, planes, word);
    if constexpr (kPerWord == 4) {
      unpack_lane<2>(lanes, planes, word);
      unpack_lane<3>(lanes, planes, word);
    }
  }

  HWY_INLINE void pack(const float* planes, uint32_t* block) const {
    const D d;
    if constexpr (kWords == 1) {
      hn::StoreU(pack_word(planes, 0), d, block);
    } else if constexpr (kWords == 2) {
      hn::StoreInterleaved2(pack_word(planes, 0), pack_word(planes, 1), d, block);
    } else if constexpr (kWords == 4) {
      hn::StoreInterleaved4(pack_word(planes, 0), pack_word(planes, 1), pack_word(planes, 2),
                            pack_word(planes, 3), d, block);
    } else {
      for (size_t word = 0; word < kWords; word += 4) {
        V a = pack_word(planes, word), b = pack_word(planes, word + 1);
        V c = pack_word(planes, word + 2), e = pack_word(planes, word + 3);
        transpose(a, b, c, e);
        hn::StoreU(a, d, block + word);
        hn::StoreU(b, d, block + word + kWords);
        hn::StoreU(c, d, block + word + 2 * kWords);
        hn::StoreU(e, d, block + word + 3 * kWords);
      }
    }
  }

  HWY_INLINE void unpack(const uint32_t* block, float* planes) const {
    const D d;
    V a = hn::Zero(d), b = a, c = a, e = a;
    if constexpr (kWords == 1) {
      unpack_word(hn::LoadU(d, block), planes, 0);
    } else if constexpr (kWords == 2) {
      hn::LoadInterleaved2(d, block, a, b);
      unpack_group(a, b, c, e, planes, 0);
    } else if constexpr (kWords == 4) {
      hn::LoadInterleaved4(d, block, a, b, c, e);
      unpack_group(a, b, c, e, planes, 0);
    } else {
      for (size_t word = 0; word < kWords; word += 4) {
        a = hn::LoadU(d, block + word);
        b = hn::LoadU(d, block + word + kWords);
        c = hn::LoadU(d, block + word + 2 * kWords);
        e = hn::LoadU(d, block + word + 3 * kWords);
        transpose(a, b, c, e);
        unpack_group(a, b, c, e, planes, word);
      }
    }
  }

  HWY_INLINE void unpack_group(V a, V b, V c, V e, float* planes, size_t word) const {
    unpack_word(a, planes, word);
    unpack_word(b, planes, word + 1);
    if constexpr (kWords >= 4) {
      unpack_word(c, planes, word + 2);
      unpack_word(e, planes, word + 3);
    }
  }
};

// Processes whole vectors of pixels, and then one vector that ends with the last pixel. Pixels that
// it shares with the vector before are written again, with the same values. Requirement: at least
// one vector of pixels.
template <class D, class Step>
HWY_INLINE void for_pixels(D d, size_t pixels, const Step& step) {
  const size_t lanes = hn::Lanes(d);
  for (size_t pixel = 0; pixel + lanes <= pixels; pixel += lanes) step(pixel);
  step(pixels - lanes);
}

// Full vectors are used for up to four words per pixel, which Highway interleaves; beyond that the
// transposition needs 128-bit vectors.
template <class Codec, size_t kBlock>
using WideTag = std::conditional_t<(kBlock * Codec::kBytes > 16), Vector128, VectorFull>;

template <class Codec, size_t kBlock, class D>
void pack_with(D d, const float* planes, size_t plane_stride, size_t channels, uint32_t* block,
               size_t pixels, const ElementRule& rule) {
  const Codec codec(rule);
  using Run = Pixels<Codec, kBlock, D>;
  const uint32_t padding = hn::GetLane(codec.encode(d, hn::Zero(d)));
  const Run run{codec, plane_stride, channels, padding};
  for_pixels(d, pixels,
             [&](size_t pixel) HWY_ATTR { run.pack(planes + pixel, block + pixel * Run::kWords); });
}

template <class Codec, size_t kBlock, class D>
void unpack_with(D d, const uint32_t* block, float* planes, size_t plane_stride, size_t channels,
                 size_t pixels, const ElementRule& rule) {
  const Codec codec(rule);
  using Run = Pixels<Codec, kBlock, D>;
  const Run run{codec, plane_stride, channels, 0};
  for_pixels(d, pixels, [&](size_t pixel) HWY_ATTR {
    run.unpack(block + pixel * Run::kWords, planes + pixel);
  });
}

template <class Codec, size_t kBlock>
void pack(const void* planes, size_t plane_stride, size_t channels, void* block, size_t pixels,
          const ElementRule& rule) noexcept {
  const WideTag<Codec, kBlock> wide;
  const auto* from = static_cast<const float*>(planes);
  auto* to = static_cast<uint32_t*>(block);
  if (pixels >= hn::Lanes(wide))
    pack_with<Codec, kBlock>(wide, from, plane_stride, channels, to, pixels, rule);
  else
    pack_with<Codec, kBlock>(Vector128(), from, plane_stride, channels, to, pixels, rule);
}

template <class Codec, size_t kBlock>
void unpack(const void* block, void* planes, size_t plane_stride, size_t channels, size_t pixels,
            const ElementRule& rule) noexcept {
  const WideTag<Codec, kBlock> wide;
  const auto* from = static_cast<const uint32_t*>(block);
  auto* to = static_cast<float*>(planes);
  if (pixels >= hn::Lanes(wide))
    unpack_with<Codec, kBlock>(wide, from, to, plane_stride, channels, pixels, rule);
  else
    unpack_with<Codec, kBlock>(Vector128(), from, to, plane_stride, channels, pixels, rule);
}

template <class Codec>
BlockKernels of_block(uint32_t block) {
  switch (block) {
    case 4:
      return {pack<Codec, 4>, unpack<Codec, 4>};
    case 8:
      return {pack<Codec, 8>, unpack<Codec, 8>};
    case 16:
      return {pack<Codec, 16>, unpack<Codec, 16>};
    default:
      return {};
  }
}

BlockKernels select_blocks(DataType blocked, uint32_t block) {
  switch (blocked) {
    case DataType::kFloat32:
      return of_block<FloatCodec>(block);
    case DataType::kBf16:
      return of_block<Bf16Codec>(block);
#if MILLRACE_HAVE_FP16
    case DataType::kFp16:
      return of_block<Fp16Codec>(block);
#endif
    case DataType::kInt8:
      return of_block<QuantCodec<int8_t>>(block);
    case DataType::kUint8:
      return of_block<QuantCodec<uint8_t>>(block);
    default:
      return {};
  }
}

#else

BlockKernels select_blocks(DataType, uint32_t) {
  return {};
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace millrace::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::tensor {

HWY_EXPORT(select_blocks);

BlockKernels block_kernels(DataType blocked, uint32_t block) noexcept {
  return HWY_DYNAMIC_DISPATCH(select_blocks)(blocked, block);
}

}  // namespace millrace::tensor
#endif  // HWY_ONCE
