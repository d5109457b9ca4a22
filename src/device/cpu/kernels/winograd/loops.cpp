// F(m x m, 3x3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", with m = 4
// or 2. For a batch of tiles:
//
//   1. input transform: V = B^T d B of each patch d of (m + 2) x (m + 2) elements, for vectors of
//      channels;
//   2. (m + 2)^2 matrix products [tiles, channels] x [channels, result channels of a panel], with
//      register tiles of kRows rows and kVectors vectors;
//   3. output transform: Y = A^T M A of the sums M, then bias, addition and bounds.
//
// The transforms apply a one-dimensional transform to the columns and then to the rows. Filters are
// transformed at load: U = G g G^T.
#include "device/cpu/kernels/winograd/loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/winograd/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/keep_between-inl.h"
#include "device/cpu/kernels/numbers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::winograd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
// The register tile: the sums that fit into registers beside their operands.
constexpr size_t kVectors = 4, kRows = HWY_TARGET <= HWY_AVX3 ? 6 : 3;

template <class Number>
HWY_INLINE Vector load(const Number* from) {
  return kernels::HWY_NAMESPACE::load_numbers(Floats(), from);
}
template <class Number>
HWY_INLINE void store(Vector numbers, Number* to) {
  kernels::HWY_NAMESPACE::store_numbers(Floats(), numbers, to);
}

// The input, output and filter transforms in one dimension, for large and small tiles.
HWY_INLINE void transform(const Vector (&d)[6], Vector (&t)[6]) {
  const Floats f;
  const Vector two = hn::Set(f, 2.0F), four = hn::Set(f, 4.0F), five = hn::Set(f, 5.0F);
  const Vector even = hn::NegMulAdd(four, d[2], d[4]), odd = hn::NegMulAdd(four, d[1], d[3]);
  const Vector near = hn::Sub(d[4], d[2]), far = hn::Mul(two, hn::Sub(d[3], d[1]));
  t[0] = hn::MulAdd(four, d[0], hn::NegMulAdd(five, d[2], d[4]));
  t[1] = hn::Add(even, odd);
  t[2] = hn::Sub(even, odd);
  t[3] = hn::Add(near, far);
  t[4] = hn::Sub(near, far);
  t[5] = hn::MulAdd(four, d[1], hn::NegMulAdd(five, d[3], d[5]));
}

HWY_INLINE void transform(const Vector (&d)[4], Vector (&t)[4]) {
  t[0] = hn::Sub(d[0], d[2]);
  t[1] = hn::Add(d[1], d[2]);
  t[2] = hn::Sub(d[2], d[1]);
  t[3] = hn::Sub(d[1], d[3]);
}

HWY_INLINE void transform_sums(const Vector (&m)[6], Vector (&t)[4]) {
  const Floats f;
  const Vector two = hn::Set(f, 2.0F), four = hn::Set(f, 4.0F), eight = hn::Set(f, 8.0F);
  const Vector p = hn::Add(m[1], m[2]), q = hn::Sub(m[1], m[2]);
  const Vector r = hn::Add(m[3], m[4]), s = hn::Sub(m[3], m[4]);
  t[0] = hn::Add(hn::Add(m[0], p), r);
  t[1] = hn::MulAdd(two, s, q);
  t[2] = hn::MulAdd(four, r, p);
  t[3] = hn::Add(hn::MulAdd(eight, s, q), m[5]);
}

HWY_INLINE void transform_sums(const Vector (&m)[4], Vector (&t)[2]) {
  t[0] = hn::Add(hn::Add(m[0], m[1]), m[2]);
  t[1] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
}

HWY_INLINE void transform(const Vector (&g)[kTaps], Vector (&t)[6]) {
  const Floats f;
  const Vector sixth = hn::Set(f, -1.0F / 6), twelfth = hn::Set(f, 1.0F / 12);
  const Vector outer = hn::Mul(sixth, hn::Add(g[0], g[2]));
  const Vector far = hn::MulAdd(hn::Set(f, 1.0F / 24), g[0], hn::Mul(hn::Neg(sixth), g[2]));
  t[0] = hn::Mul(hn::Set(f, 0.25F), g[0]);
  t[1] = hn::MulAdd(sixth, g[1], outer);
  t[2] = hn::NegMulAdd(sixth, g[1], outer);
  t[3] = hn::MulAdd(twelfth, g[1], far);
  t[4] = hn::NegMulAdd(twelfth, g[1], far);
  t[5] = g[2];
}

HWY_INLINE void transform(const Vector (&g)[kTaps], Vector (&t)[4]) {
  const Vector half = hn::Set(Floats(), 0.5F), outer = hn::Mul(half, hn::Add(g[0], g[2]));
  t[0] = g[0];
  t[1] = hn::MulAdd(half, g[1], outer);
  t[2] = hn::NegMulAdd(half, g[1], outer);
  t[3] = g[2];
}

// The second half of a transform in two dimensions: transforms each line, and stores its elements
// `stride` apart, since each belongs to a matrix of its own.
template <size_t kPatch, size_t kFrom>
HWY_INLINE void store_transformed(const Vector (&lines)[kPatch][kFrom], float* to, size_t stride) {
  for (size_t y = 0; y < kPatch; ++y) {
    Vector changed[kPatch];
    transform(lines[y], changed);
    for (size_t x = 0; x < kPatch; ++x)
      hn::StoreU(changed[x], Floats(), to + (y * kPatch + x) * stride);
  }
}

// The position of a tile in the result.
struct Place {
  size_t y, x;
};
Place place_of(const Geometry& g, size_t tile) {
  return {tile / g.tile_columns() * g.tile, tile % g.tile_columns() * g.tile};
}

// Transforms a vector of channels of a patch. `image` is their block, from the first of them on.
template <size_t kTile, class Number>
HWY_INLINE void transform_one_patch(const Geometry& g, const Place& place, const Number* image,
                                    float* to, size_t stride) {
  const Floats f;
  constexpr size_t kPatch = kTile + kTaps - 1;
  Vector lines[kPatch][kPatch];
  for (size_t x = 0; x < kPatch; ++x) {
    Vector column[kPatch], changed[kPatch];
    const size_t at_x = place.x + x - g.left;  // wraps around left of the image
    for (size_t y = 0; y < kPatch; ++y) {
      const size_t at_y = place.y + y - g.above;
      const bool inside = at_x < g.width && at_y < g.height;
      column[y] = inside ? load(image + (at_y * g.width + at_x) * g.block) : hn::Zero(f);
    }
    transform(column, changed);
    for (size_t y = 0; y < kPatch; ++y) lines[y][x] = changed[y];
  }
  store_transformed(lines, to, stride);
}

// Transforms patches to [products][tile][channel].
template <size_t kTile, class Number>
void transform_patches(const Geometry& g, const Number* image, size_t first, size_t tiles,
                       float* to) {
  const size_t plane = g.height * g.width * g.block, stride = g.patches_apart();
  for (size_t tile = 0; tile < tiles; ++tile) {
    const Place place = place_of(g, first + tile);
    for (size_t c = 0; c < g.channels_in(); c += kLanes)
      transform_one_patch<kTile>(g, place, image + c / g.block * plane + c % g.block,
                                 to + tile * g.channels_in() + c, stride);
  }
}

// The matrices of a product. Rows are `columns` apart in `patches`, `width` in the others. The
// filters of the next product are prefetched meanwhile: all filters may be far larger than a cache,
// and are read once for a batch of tiles.
struct Matrices {
  const float* patches;
  const float* filters;
  float* sums;
  const float* next;
  size_t columns, width;
  size_t fetched;  // floats of `next` for each column of a few rows
};

template <size_t kCount, size_t kCountVectors>
HWY_INLINE void multiply(const Matrices& m) {
  const Floats f;
  Vector sums[kCount][kCountVectors];
  for (auto& row : sums)
    for (Vector& sum : row) sum = hn::Zero(f);
  const float *filters = m.filters, *next = m.next;
  for (size_t k = 0; k < m.columns; ++k, filters += m.width, next += m.fetched) {
    constexpr int kToRead = 0, kSecondLevel = 2;
    __builtin_prefetch(next, kToRead, kSecondLevel);
    __builtin_prefetch(next + m.fetched / 2, kToRead, kSecondLevel);
    Vector values[kCountVectors];
    for (size_t j = 0; j < kCountVectors; ++j) values[j] = hn::LoadU(f, filters + j * kLanes);
    for (size_t i = 0; i < kCount; ++i) {
      const Vector patch = hn::Set(f, m.patches[i * m.columns + k]);
      for (size_t j = 0; j < kCountVectors; ++j)
        sums[i][j] = hn::MulAdd(patch, values[j], sums[i][j]);
    }
  }
  for (size_t i = 0; i < kCount; ++i)
    for (size_t j = 0; j < kCountVectors; ++j)
      hn::StoreU(sums[i][j], f, m.sums + i * m.width + j * kLanes);
}

// Multiplies at most kCount rows.
template <size_t kCount, size_t kCountVectors>
HWY_INLINE void multiply_rows(const Matrices& m, size_t rows) {
  if constexpr (kCount > 1)
    if (rows < kCount) return multiply_rows<kCount - 1, kCountVectors>(m, rows);
  multiply<kCount, kCountVectors>(m);
}

// Multiplies at most kCountVectors vectors of a row.
template <size_t kCountVectors>
HWY_INLINE void multiply_columns(Matrices m, size_t vectors, size_t rows) {
  if constexpr (kCountVectors > 1)
    if (vectors < kCountVectors) return multiply_columns<kCountVectors - 1>(m, vectors, rows);
  while (rows > 0) {
    const size_t times = (rows + kRows - 1) / kRows, now = (rows + times - 1) / times;
    multiply_rows<kRows, kCountVectors>(m, now);
    rows -= now;
    m.patches += now * m.columns;
    m.sums += now * m.width;
    m.next += m.fetched * m.columns;
  }
}

void multiply_all(Matrices m, size_t rows) {
  for (size_t left = m.width / kLanes; left > 0;) {
    const size_t vectors = std::min(left, kVectors);
    multiply_columns<kVectors>(m, vectors, rows);
    m.filters += vectors * kLanes;
    m.sums += vectors * kLanes;
    left -= vectors;
  }
}

// Makes a vector of channels of a tile. `result` is their block, from the first of them on, and
// `bias` is that of these channels.
template <size_t kTile, class Number>
HWY_INLINE void finish_tile(const Geometry& g, const Finish& finish, const Place& place,
                            const float* sums, size_t stride, const float* bias, Number* result) {
  const Floats f;
  constexpr size_t kPatch = kTile + kTaps - 1;
  Vector lines[kTile][kPatch];
  for (size_t x = 0; x < kPatch; ++x) {
    Vector column[kPatch], changed[kTile];
    for (size_t y = 0; y < kPatch; ++y) column[y] = hn::LoadU(f, sums + (y * kPatch + x) * stride);
    transform_sums(column, changed);
    for (size_t y = 0; y < kTile; ++y) lines[y][x] = changed[y];
  }
  const Vector start = bias == nullptr ? hn::Zero(f) : hn::LoadU(f, bias);
  const Vector least = hn::Set(f, finish.least), most = hn::Set(f, finish.most);
  const size_t rows = std::min(kTile, g.out_height - place.y);
  const size_t columns = std::min(kTile, g.out_width - place.x);
  for (size_t y = 0; y < rows; ++y) {
    Vector changed[kTile];
    transform_sums(lines[y], changed);
    Number* const to = result + ((place.y + y) * g.out_width + place.x) * g.block;
    for (size_t x = 0; x < kTile; ++x) {
      if (x >= columns) break;
      Vector value = hn::Add(changed[x], start);
      if (finish.adds) value = hn::Add(value, load(to + x * g.block));
      store(kernels::HWY_NAMESPACE::keep_between(least, most, value), to + x * g.block);
    }
  }
}

template <size_t kTile, class Number>
void finish_tiles(const Geometry& g, const Finish& finish, const float* sums, size_t first,
                  size_t tiles, size_t first_channel, size_t channels, Number* result) {
  const size_t plane = g.out_height * g.out_width * g.block, stride = g.sums_apart();
  for (size_t tile = 0; tile < tiles; ++tile) {
    const Place place = place_of(g, first + tile);
    for (size_t c = 0; c < channels; c += kLanes) {
      const size_t channel = first_channel + c;
      finish_tile<kTile>(g, finish, place, sums + tile * channels + c, stride,
                         finish.bias == nullptr ? nullptr : finish.bias + channel,
                         result + channel / g.block * plane + channel % g.block);
    }
  }
}

// Requirement: there are at most tiles_at_once() tiles.
template <size_t kTile, class Number>
void run_tiles(const Geometry& g, const Finish& finish, const Work<Number>& work, size_t first,
               size_t tiles) {
  float* const patches = work.scratch;
  float* const sums = patches + g.products() * g.patches_apart();
  transform_patches<kTile>(g, work.image, first, tiles, patches);
  const size_t width = kPanelBlocks * g.block;
  for (size_t panel = work.first_panel; panel < work.first_panel + work.panels; ++panel) {
    const size_t channel = panel * width, channels = std::min(width, g.channels_out() - channel);
    const float* filters = work.filters + g.products() * g.channels_in() * channel;
    const size_t fetched = (channels * kRows + tiles - 1) / tiles;
    for (size_t i = 0; i < g.products(); ++i) {
      const float* const next = filters + g.channels_in() * channels;
      multiply_all({patches + i * g.patches_apart(), filters, sums + i * g.sums_apart(), next,
                    g.channels_in(), channels, fetched},
                   tiles);
      filters = next;
    }
    finish_tiles<kTile>(g, finish, sums, first, tiles, channel, channels, work.result);
  }
}

template <class Number>
void run_work(const Geometry& g, const Finish& finish, const Work<Number>& work) {
  const size_t end = work.first_tile + work.tiles;
  for (size_t first = work.first_tile; first < end; first += g.tiles_at_once()) {
    const size_t tiles = std::min(g.tiles_at_once(), end - first);
    if (g.tile == kLargeTile)
      run_tiles<kLargeTile>(g, finish, work, first, tiles);
    else
      run_tiles<kSmallTile>(g, finish, work, first, tiles);
  }
}

void run_floats(const Geometry& g, const Finish& finish, const Work<float>& work) {
  run_work(g, finish, work);
}
void run_bf16(const Geometry& g, const Finish& finish, const Work<uint16_t>& work) {
  run_work(g, finish, work);
}

// Gathers the taps of a vector of result channels for one channel of the image; filters are
// `apart`.
HWY_INLINE void gather_taps(const float* from, size_t apart, Vector (&taps)[kTaps][kTaps]) {
  const Floats f;
  HWY_ALIGN float channels[kLanes];
  for (size_t y = 0; y < kTaps; ++y)
    for (size_t x = 0; x < kTaps; ++x) {
      for (size_t i = 0; i < kLanes; ++i) channels[i] = from[i * apart + y * kTaps + x];
      taps[y][x] = hn::Load(f, channels);
    }
}

template <size_t kTile>
HWY_INLINE void transform_filter(const Vector (&taps)[kTaps][kTaps], float* to, size_t stride) {
  constexpr size_t kPatch = kTile + kTaps - 1;
  Vector lines[kPatch][kTaps];
  for (size_t x = 0; x < kTaps; ++x) {
    const Vector column[kTaps] = {taps[0][x], taps[1][x], taps[2][x]};
    Vector changed[kPatch];
    transform(column, changed);
    for (size_t y = 0; y < kPatch; ++y) lines[y][x] = changed[y];
  }
  store_transformed(lines, to, stride);
}

// Transforms filters to [panels][products][channels][result channels of the panel].
void transform_all_filters(const Geometry& g, const float* from, float* to) {
  const size_t apart = g.channels_in() * kTaps * kTaps, most = kPanelBlocks * g.block;
  for (size_t first = 0; first < g.channels_out(); first += most) {
    const size_t width = std::min(most, g.channels_out() - first);
    for (size_t c = 0; c < g.channels_in(); ++c)
      for (size_t i = 0; i < width; i += kLanes) {
        Vector taps[kTaps][kTaps];
        gather_taps(from + (first + i) * apart + c * kTaps * kTaps, apart, taps);
        if (g.tile == kLargeTile)
          transform_filter<kLargeTile>(taps, to + c * width + i, g.channels_in() * width);
        else
          transform_filter<kSmallTile>(taps, to + c * width + i, g.channels_in() * width);
      }
    to += g.products() * g.channels_in() * width;
  }
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::winograd {

HWY_EXPORT(run_floats);
HWY_EXPORT(run_bf16);
HWY_EXPORT(transform_all_filters);

void transform_filters(const Geometry& geometry, const float* from, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(transform_all_filters)(geometry, from, to);
}

void run(const Geometry& geometry, const Finish& finish, const Work<float>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_floats)(geometry, finish, work);
}

void run(const Geometry& geometry, const Finish& finish, const Work<uint16_t>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_bf16)(geometry, finish, work);
}

}  // namespace millrace::device::cpu::kernels::winograd
#endif  // HWY_ONCE
