// Vector loops for convolutions from one channel to one, as at the end of networks that give a
// score for each pixel. Kernels that compute with blocks of channels fill a sixteenth of their
// vectors with one channel; these loops fill vectors with the pixels of a row. The instruction set
// is chosen when a function is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::device::cpu::kernels::one_channel {

// The convolution has stride 1, and its image is in C order with zeros around it, of which there
// may be none.
struct Geometry {
  size_t height, width;
  size_t out_height, out_width;
  size_t taps_y, taps_x;
  size_t above, left;  // zeros

  // Size of a row of the image, with the zeros around it and room for a vector at its end.
  size_t row_floats() const { return out_width + taps_x - 1 + kMostLanes; }
  // Size of the scratch memory of each thread.
  size_t scratch_floats() const { return taps_y * row_floats(); }

  static constexpr size_t kMostLanes = 16;
};

struct Filter {
  std::vector<float> taps;  // in C order
  float bias = 0;
  float least = 0, most = 0;  // results are kept between them
};

// Some rows of the result. `scratch` has scratch_floats().
template <class Number>
struct Work {
  const Number* image;
  Number* result;
  float* scratch;
  size_t first_row, rows;
};

// BF16 values are uint16_t.
void run(const Geometry& geometry, const Filter& filter, const Work<float>& work) noexcept;
void run(const Geometry& geometry, const Filter& filter, const Work<uint16_t>& work) noexcept;

}  // namespace millrace::device::cpu::kernels::one_channel
