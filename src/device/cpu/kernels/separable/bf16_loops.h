// The loops of loops.h for BF16 images. The rows of the intermediate image are computed by products
// of BF16 elements and rounded to BF16, so that the result is that of the two convolutions one
// after the other. Infinities in the intermediate image become NaN, and values beyond 2^110 may
// become infinite.
#pragma once

#include <cstdint>

#include "device/cpu/kernels/separable/geometry.h"

namespace millrace::device::cpu::kernels::separable {

// The instructions by which rows are made, and with them the order of images in memory.
enum class Bf16Products : uint8_t {
  kNone,   // there are no such loops here
  kTiles,  // AMX: channels innermost
  kPairs,  // AVX-512 BF16: channels in blocks
};
Bf16Products bf16_products();

// The same convolutions with images as these instructions need them, and as much made at a time as
// suits them. Requirement: they are not kNone.
Geometry arranged(Geometry geometry, Bf16Products products);

// Permutes [result channels, channels] to [blocks][pairs of channels][block][pair].
void arrange(const Geometry& geometry, const float* from, uint16_t* to) noexcept;

// Requirements: `block` is kBf16Block, `channels_in` is even, and the geometry is arranged() for
// instructions that are there.
void run(const Geometry& geometry, const Bf16Layer& pointwise, const Layer& depthwise,
         const Bf16Work& work) noexcept;

}  // namespace millrace::device::cpu::kernels::separable
