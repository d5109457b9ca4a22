// Separable resampling of a picture: computes rows of the resized picture, one at a time, from rows
// of the source. If both axes interpolate, a row is a bilinear interpolation of two source rows;
// otherwise it is the weighted sum of several source rows, whose pixels are then summed along the
// row.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vision/preprocess/axis.h"
#include "vision/preprocess/geometry.h"
#include "vision/preprocess/kernels.h"
#include "vision/preprocess/source_rows.h"

namespace millrace::vision {

// The data that all rows share. Immutable and thread-safe. The source picture is borrowed.
struct ResamplePlan {
  ResamplePlan(const SourcePicture& source, const Placement& placement, Filter filter);

  // True if each pixel is interpolated from its four neighbours; otherwise it is a weighted sum.
  bool interpolates() const { return across.interpolates() && down.interpolates(); }
  // Returns the number of source pixels that all rows together read.
  uint64_t samples() const;

  const SourcePicture& source;
  Axis across;
  Axis down;
  // For interpolation: the offset of each pair in a source row, and its kPairWeights weights.
  std::vector<uint32_t> offsets;
  RowBuffer<int16_t> weights;
};

// Computes rows on one thread, with scratch memory of its own. Not thread-safe; several resamplers
// may share a plan, which they borrow.
class Resampler {
 public:
  explicit Resampler(const ResamplePlan& plan);

  // Writes row `y` of the result: plan.across.outputs() pixels, whose lanes are ordered as
  // SourceRows gathers them and range from 0 to 255. May also write the rest of a vector beyond the
  // end.
  void make_row(uint32_t y, float* to);

 private:
  // The pairs of one source row, cached since the next output row often needs them again.
  struct GatheredRow {
    uint32_t y = kNone;
    RowBuffer<uint8_t> pairs;
  };
  static constexpr uint32_t kNone = ~0u;

  void interpolate_row(uint32_t y, float* to);
  void sum_row(uint32_t y, float* to);
  PairRow pairs_of(uint32_t source_y);
  void add_source_row(uint32_t source_y, float weight, bool is_first);

  const ResamplePlan& plan_;
  SourceRows source_;
  std::array<GatheredRow, 2> gathered_;  // source row y is cached in element y % 2
  // For weighted sums: the range of source columns that are needed, a row of NV12 converted to RGB,
  // and the weighted sum of source rows.
  size_t pixel_stride_ = 0;
  uint32_t begin_ = 0, end_ = 0;
  RowBuffer<uint8_t> converted_;
  RowBuffer<float> sums_;
};

}  // namespace millrace::vision
