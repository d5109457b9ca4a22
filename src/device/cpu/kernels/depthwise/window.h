// The windows of a depthwise convolution of 3x3 taps over an image whose channels lie innermost.
#pragma once

#include <cstddef>

namespace millrace::device::cpu::kernels::depthwise {

inline constexpr size_t kTaps = 3;

// Images are [height, width, channels].
struct Geometry {
  size_t channels;
  size_t height, width;          // of the image
  size_t out_height, out_width;  // at least 1
  size_t stride;                 // 1 or 2
  size_t above, left;            // pixels around the image, 0 or 1
};

// Channels are computed in groups of `size`. The last group has `size` or half of it, and ends with
// the last channel, so it may overlap the one before. Constants that are arranged by groups have
// room for `size` channels in each.
struct Groups {
  size_t channels, size;  // at least as many channels

  size_t count() const { return (channels + size - 1) / size; }
  bool is_half(size_t group) const { return channels - group * size <= size / 2; }
  size_t size_of(size_t group) const { return is_half(group) ? size / 2 : size; }
  size_t first(size_t group) const {
    const size_t last = channels - size_of(group);
    return group * size < last ? group * size : last;
  }
};

// Returns the number of columns under `outputs` consecutive windows.
constexpr size_t columns_under(size_t outputs, size_t stride) {
  return (outputs - 1) * stride + kTaps;
}

// The range of windows in a row of results that have all their columns in the image.
struct Inside {
  explicit Inside(const Geometry& g) : begin(g.left) {
    const size_t last = (g.width + g.left - kTaps) / g.stride + 1;
    end = g.width + g.left < kTaps ? begin : last < g.out_width ? last : g.out_width;
    if (end < begin) end = begin;
  }
  size_t begin, end;
};

// The number of consecutive pixels of padding that stand in for pixels beside an image.
inline constexpr size_t kPaddingPixels = columns_under(4, 2);

// The addresses of the pixels under at most four windows of a row that are Inside. Rows outside the
// image are at `padding`.
template <class T>
struct Pixels {
  Pixels(const Geometry& g, const T* image, const T* padding, size_t row, size_t column)
      : step(g.channels) {
    for (size_t i = 0; i < kTaps; ++i) {
      const size_t y = row * g.stride + i - g.above;  // wraps around above the image
      const bool inside = y < g.height;
      at[i] = inside ? image + (y * g.width + column * g.stride - g.left) * g.channels : padding;
    }
  }
  const T* pixel(size_t row, size_t column) const { return at[row] + column * step; }

  const T* at[kTaps];
  size_t step;
};

// Like Pixels, for windows at any position, with `kColumns` columns.
template <class T, size_t kColumns = kTaps>
struct EdgePixels {
  EdgePixels(const Geometry& g, const T* image, const T* padding, size_t row, size_t column) {
    for (size_t i = 0; i < kTaps; ++i)
      for (size_t j = 0; j < kColumns; ++j) {
        const size_t y = row * g.stride + i - g.above, x = column * g.stride + j - g.left;
        const bool inside = y < g.height && x < g.width;
        at[i][j] = inside ? image + (y * g.width + x) * g.channels : padding;
      }
  }
  const T* pixel(size_t row, size_t column) const { return at[row][column]; }

  const T* at[kTaps][kColumns];
};

}  // namespace millrace::device::cpu::kernels::depthwise
