// Windows that slide over spatial dimensions: the attributes of convolution and pooling, and the
// iteration over the pairs of elements under each tap. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fallback/node_view.h"

namespace millrace::fallback {

// The attributes of a window, with one entry per spatial dimension. All are positive, but pads may
// be 0.
struct SpatialWindow {
  Dims kernel, strides, dilations, pads_begin, pads_end;

  size_t rank() const noexcept { return kernel.size(); }
  int64_t taps() const noexcept;
  // The size of the window in a dimension, with dilation.
  int64_t extent(size_t d) const noexcept { return (kernel[d] - 1) * dilations[d] + 1; }
};

// Reads the attributes kernel_shape, strides, dilations and pads of a node, and resolves auto_pad.
// `input` is the spatial dimensions. kInvalidArgument: a list has another length or values out of
// range, or kernel_shape differs from `kernel`.
Result<SpatialWindow> read_window(const NodeView& node, std::span<const int64_t> input,
                                  Dims kernel);
// Returns the number of positions of a window over `input` by dimension; kInvalidArgument if it
// does not fit.
Result<Dims> positions_of(const SpatialWindow& window, std::span<const int64_t> input);

// Iterates over the pairs of elements under one tap of the kernel: one of a dense tensor, whose
// elements are the positions of the window, and one of a strided tensor, over which the window
// moves by its strides. In a convolution the output is dense and the input strided; in a transposed
// convolution it is the other way round.
class WindowWalk {
 public:
  WindowWalk(const SpatialWindow& window, std::span<const int64_t> dense,
             std::span<const int64_t> strided);

  size_t dense_size() const noexcept { return dense_size_; }
  size_t strided_size() const noexcept { return strided_size_; }

  // Calls visit(offset in dense, offset in strided, number of pairs) for each row of pairs. Within
  // a row, dense elements are adjacent, and strided ones row_stride() apart. Pairs in the padding
  // are left out.
  template <class Visit>
  void for_each_row(size_t tap, Visit&& visit) const {
    std::vector<Range> ranges;
    for (size_t d = window_.rank(), rest = tap; d-- > 0;) {
      const auto size = static_cast<size_t>(window_.kernel[d]);
      ranges.insert(ranges.begin(), range_of(d, static_cast<int64_t>(rest % size)));
      rest /= size;
    }
    for (const Range& range : ranges)
      if (range.first >= range.last) return;
    std::vector<int64_t> at;
    for (const Range& range : ranges) at.push_back(range.first);
    const Range& row = ranges.back();
    for (;;) {
      size_t dense = 0, strided = 0;
      for (size_t d = 0; d < at.size(); ++d) {
        dense = dense * static_cast<size_t>(dense_[d]) + static_cast<size_t>(at[d]);
        strided = strided * static_cast<size_t>(strided_[d]) +
                  static_cast<size_t>(at[d] * window_.strides[d] + ranges[d].shift);
      }
      visit(dense, strided, static_cast<size_t>(row.last - row.first));
      size_t d = at.size() - 1;
      while (d > 0 && ++at[d - 1] == ranges[d - 1].last) {
        at[d - 1] = ranges[d - 1].first;
        --d;
      }
      if (d == 0) return;
    }
  }
  size_t row_stride() const noexcept { return static_cast<size_t>(window_.strides.back()); }

 private:
  // The dense positions whose strided partner, position * stride + shift, exists.
  struct Range {
    int64_t first = 0, last = 0, shift = 0;
  };
  Range range_of(size_t d, int64_t tap) const;

  const SpatialWindow& window_;
  std::vector<int64_t> dense_, strided_;
  size_t dense_size_, strided_size_;
};

}  // namespace millrace::fallback
