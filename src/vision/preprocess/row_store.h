// Normalises, quantises and stores rows of a target picture. Holds scratch memory: each thread has
// its own.
#pragma once

#include <array>
#include <cstdint>

#include "vision/preprocess/kernels.h"
#include "vision/preprocess/picture.h"

namespace millrace::vision {

// y = (x - mean) * scale * factor for each channel; x is from 0 to 255. In the order R, G, B, also
// where the target has another; grey takes those of R.
struct Normalisation {
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> scale{1, 1, 1};
  float factor = 1;
};

class RowStore {
 public:
  // `target` and `region` have been checked, and outlive this; `rgb_lanes` are those of the rows.
  RowStore(const TargetPicture& target, const Region& region, const Normalisation& normalisation,
           const std::array<uint8_t, 3>& rgb_lanes);

  // `pixels` holds region.width pixels of four lanes; its lanes are overwritten. `y` counts from
  // the top of the region. Integers are rounded to nearest, ties to even, and saturate; NaN, which
  // only parameters of extreme size give, is 0.
  void store(uint32_t y, float* pixels);

 private:
  // Address at which the region's row `y` begins.
  uint8_t* place_of(uint32_t plane, uint32_t y) const;
  void store_plane(uint32_t plane, uint32_t y, const float* values, size_t count) const;

  const TargetPicture& target_;
  const Region& region_;
  LaneRule rule_;
  LaneRule grey_;  // after the sum of the lanes, where there is one
  std::array<RowBuffer<float>, 3> rows_;
};

}  // namespace millrace::vision
