// BF16 rows of the intermediate image, by AMX tiles (tile_rows-inl.h) or by dot products of pairs
// (pair_rows-inl.h). Both round the sums to BF16, and rows-inl.h makes the depthwise convolution
// out of the rows in FP32.
#include "device/cpu/kernels/separable/bf16_loops.h"

#include <limits>

#include "base/process/topology.h"
#include "device/cpu/kernels/tiles.h"
#include "tensor/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/separable/bf16_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

// Highway 1.0.3 has no target with products of BF16 numbers, so these loops are compiled for that
// with AVX-512, and further instructions, of which each processor takes those that it has.
#undef MILLRACE_BEFORE_SEPARABLE
#undef MILLRACE_AFTER_SEPARABLE
#if HWY_TARGET == HWY_AVX3
#define MILLRACE_BEFORE_SEPARABLE \
  HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16,amx-tile,amx-bf16")
#define MILLRACE_AFTER_SEPARABLE HWY_POP_ATTRIBUTES
#endif

#include "device/cpu/kernels/separable/pair_rows-inl.h"
#include "device/cpu/kernels/separable/rounding-inl.h"
#include "device/cpu/kernels/separable/rows-inl.h"
#include "device/cpu/kernels/separable/tile_rows-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX3
MILLRACE_BEFORE_SEPARABLE
namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE {
namespace {

static_assert(kBlock == kBf16Block && kMostBlocks >= kPanelBlocks);

// The destination of results. Their channels are in blocks, or innermost.
struct Bf16Results {
  using Element = uint16_t;

  Bf16Results(const Geometry& g, const Bf16Work& work)
      : first(work.result),
        first_row(work.first_row),
        rows(work.rows),
        pixel_(g.channels_innermost ? g.channels_out() : kBlock),
        block_(g.channels_innermost ? kBlock : g.out_height * g.out_width * kBlock) {}

  static HWY_INLINE void store(Vector vector, uint16_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(vector.raw));
  }
  size_t pixel() const { return pixel_; }
  size_t block() const { return block_; }

  uint16_t* first;
  size_t first_row, rows;

 private:
  size_t pixel_, block_;
};

template <bool kBounded>
void run_bounded(const Geometry& g, const Bf16Layer& pointwise, const Layer& depthwise,
                 const Bf16Work& work) {
  const Bf16Results results(g, work);
  if (g.channels_innermost)
    run_strips<TileRows<kBounded>>(g, pointwise, depthwise, results, work);
  else
    run_strips<PairRows<kBounded>>(g, pointwise, depthwise, results, work);
}

void run_work(const Geometry& g, const Bf16Layer& pointwise, const Layer& depthwise,
              const Bf16Work& work) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  if (pointwise.least == -kInfinite && pointwise.most == kInfinite)
    run_bounded<false>(g, pointwise, depthwise, work);
  else
    run_bounded<true>(g, pointwise, depthwise, work);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE
MILLRACE_AFTER_SEPARABLE
#endif

#if HWY_ONCE
namespace millrace::device::cpu::kernels::separable {

Bf16Products bf16_products() {
  // A compiler that may use more than AVX-512 everywhere leaves out the target of the loops.
  constexpr bool kHasLoops = (HWY_TARGETS & HWY_AVX3) != 0;
  const CpuFeatures& features = topology().features;
  if (!kHasLoops || !features.avx512_bf16) return Bf16Products::kNone;
  if (!features.amx_bf16) return Bf16Products::kPairs;
  return may_use_tiles() ? Bf16Products::kTiles : Bf16Products::kNone;
}

Geometry arranged(Geometry geometry, Bf16Products products) {
  if (products != Bf16Products::kTiles) return geometry;
  // Rows of so many columns, and the pixels under and over them, stay in the first level cache.
  constexpr size_t kMostColumns = 64;
  geometry.channels_innermost = true;
  geometry.strips = (geometry.columns() + kMostColumns - 1) / kMostColumns;
  geometry.panel_blocks = 2 * geometry.columns() <= kMostColumns ? 2 : 1;
  geometry.divides_panels =
      geometry.channels_in * geometry.channels_out() > geometry.image_elements();
  return geometry;
}

void arrange(const Geometry& geometry, const float* from, uint16_t* to) noexcept {
  for (size_t first = 0; first < geometry.channels_out(); first += kBf16Block)
    for (size_t k = 0; k < geometry.channels_in; k += 2)
      for (size_t i = 0; i < 2 * kBf16Block; ++i)
        *to++ = tensor::float_to_bf16(from[(first + i / 2) * geometry.channels_in + k + i % 2]);
}

void run([[maybe_unused]] const Geometry& geometry, [[maybe_unused]] const Bf16Layer& pointwise,
         [[maybe_unused]] const Layer& depthwise, [[maybe_unused]] const Bf16Work& work) noexcept {
#if HWY_TARGETS & HWY_AVX3
  N_AVX3::run_work(geometry, pointwise, depthwise, work);
#endif
}

}  // namespace millrace::device::cpu::kernels::separable
#endif  // HWY_ONCE
