// The contiguous kernels: conversion between FLOAT32 and narrower types by the codecs of
// codecs-inl.h, and copies for equal types. The last, partial vector is handled by a full vector
// that overlaps the one before; fewer elements than a vector use the strided kernel.
#include <cstring>

#include "tensor/conversion/kernels.h"
#include "tensor/conversion/strided.h"

// The SSSE3 target is left out, since its rounding follows the rounding mode of the thread.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/conversion/contiguous.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
#include "tensor/conversion/codecs-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::tensor::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR  // on the scalar target the strided kernels are used

using Word = hn::ScalableTag<uint32_t>;

template <size_t kBytes>
using Narrow = std::conditional_t<kBytes == 1, uint8_t, uint16_t>;

template <class Codec>
HWY_INLINE void encode_vector(const Codec& codec, const float* from, Narrow<Codec::kBytes>* to) {
  const Word d;
  const auto lanes = codec.encode(d, hn::BitCast(d, hn::LoadU(FloatTag<Word>(), from)));
  const hn::Rebind<Narrow<Codec::kBytes>, Word> narrow;
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(IntTag<Word>(), lanes)), narrow, to);
}

template <class Codec>
HWY_INLINE void decode_vector(const Codec& codec, const Narrow<Codec::kBytes>* from, float* to) {
  const Word d;
  const hn::Rebind<Narrow<Codec::kBytes>, Word> narrow;
  const auto lanes = hn::PromoteTo(d, hn::LoadU(narrow, from));
  hn::StoreU(hn::BitCast(FloatTag<Word>(), codec.decode(d, lanes)), FloatTag<Word>(), to);
}

// Runs `vector` over all full vectors, and then over one that ends with the last element. Elements
// that it shares with the vector before are written again, with the same values. `few` converts
// less than one vector.
template <class From, class To, class Vector, class Few>
HWY_INLINE void for_vectors(const From* from, To* to, size_t count, const Vector& vector,
                            const Few& few) {
  const size_t lanes = hn::Lanes(Word());
  if (count < lanes) return few();
  for (size_t i = 0; i + lanes <= count; i += lanes) vector(from + i, to + i);
  vector(from + count - lanes, to + count - lanes);
}

template <class Codec, DataType kType>
void encode_all(const void* from, void* to, size_t count, const ElementRule& rule) noexcept {
  const Codec codec(rule);
  for_vectors(
      static_cast<const float*>(from), static_cast<Narrow<Codec::kBytes>*>(to), count,
      [&](const float* source, Narrow<Codec::kBytes>* target)
          HWY_ATTR { encode_vector(codec, source, target); },
      [&] { strided_kernel(DataType::kFloat32, kType)(from, 1, to, 1, count, rule); });
}

template <class Codec, DataType kType>
void decode_all(const void* from, void* to, size_t count, const ElementRule& rule) noexcept {
  const Codec codec(rule);
  for_vectors(
      static_cast<const Narrow<Codec::kBytes>*>(from), static_cast<float*>(to), count,
      [&](const Narrow<Codec::kBytes>* source, float* target)
          HWY_ATTR { decode_vector(codec, source, target); },
      [&] { strided_kernel(kType, DataType::kFloat32)(from, 1, to, 1, count, rule); });
}

template <class Codec, DataType kType>
ContiguousKernel either(DataType from, DataType to) {
  if (from == DataType::kFloat32 && to == kType) return encode_all<Codec, kType>;
  if (from == kType && to == DataType::kFloat32) return decode_all<Codec, kType>;
  return nullptr;
}

ContiguousKernel select_contiguous(DataType from, DataType to) {
  switch (from == DataType::kFloat32 ? to : from) {
    case DataType::kBf16:
      return either<Bf16Codec, DataType::kBf16>(from, to);
#if MILLRACE_HAVE_FP16
    case DataType::kFp16:
      return either<Fp16Codec, DataType::kFp16>(from, to);
#endif
    case DataType::kInt8:
      return either<QuantCodec<int8_t>, DataType::kInt8>(from, to);
    case DataType::kUint8:
      return either<QuantCodec<uint8_t>, DataType::kUint8>(from, to);
    default:
      return nullptr;
  }
}

#else

ContiguousKernel select_contiguous(DataType, DataType) {
  return nullptr;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace millrace::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::tensor {
namespace {

template <size_t kBytes>
void copy_all(const void* from, void* to, size_t count, const ElementRule&) noexcept {
  std::memcpy(to, from, count * kBytes);
}

ContiguousKernel copy_kernel(size_t bytes) {
  switch (bytes) {
    case 1:
      return copy_all<1>;
    case 2:
      return copy_all<2>;
    case 4:
      return copy_all<4>;
    default:
      return copy_all<8>;
  }
}

}  // namespace

HWY_EXPORT(select_contiguous);

ContiguousKernel contiguous_kernel(DataType from, DataType to) noexcept {
  if (from == to) return copy_kernel(size_of(from));
  return HWY_DYNAMIC_DISPATCH(select_contiguous)(from, to);
}

}  // namespace millrace::tensor
#endif  // HWY_ONCE
