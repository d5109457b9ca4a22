// RowStore: normalises, quantises and stores rows of a target picture. It holds scratch memory, so
// it is not thread-safe: each thread uses its own.
#pragma once

#include <array>
#include <cstdint>

#include "vision/preprocess/kernels.h"
#include "vision/preprocess/picture.h"

namespace millrace::vision {

// Each channel x, 0 to 255, is normalised to (x - mean) * scale * factor. The parameters are in the
// order R, G, B whatever the order of the target; a grey target uses those of R.
struct Normalisation {
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> scale{1, 1, 1};
  float factor = 1;
};

class RowStore {
 public:
  // `target` and `region` are borrowed. Requirement: check_target() has accepted them. `rgb_lanes`
  // are the lanes of R, G and B in the rows to store.
  RowStore(const TargetPicture& target, const Region& region, const Normalisation& normalisation,
           const std::array<uint8_t, 3>& rgb_lanes);

  // Stores row `y` of the region. `pixels` has region.width pixels of four lanes each, and is used
  // as scratch memory. Integers are rounded to nearest, ties to even, and saturate; NaN, which only
  // occurs with extreme parameters, becomes 0.
  void store(uint32_t y, float* pixels);

 private:
  // Returns the address of the first pixel of row `y` of the region.
  uint8_t* place_of(uint32_t plane, uint32_t y) const;
  void store_plane(uint32_t plane, uint32_t y, const float* values, size_t count) const;

  const TargetPicture& target_;
  const Region& region_;
  LaneRule rule_;
  LaneRule grey_;  // for grey targets: the normalisation of the luma
  std::array<RowBuffer<float>, 3> rows_;
};

}  // namespace millrace::vision
