// Makes rows of the resized picture from rows of the source, one at a time and without an image in
// between.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vision/preprocess/axis.h"
#include "vision/preprocess/geometry.h"
#include "vision/preprocess/kernels.h"
#include "vision/preprocess/source_rows.h"

namespace millrace::vision {

// State that all rows have in common. Immutable, so several threads may read it.
struct ResamplePlan {
  ResamplePlan(const SourcePicture& source, const Placement& placement, Filter filter);

  // Whether a row is interpolated from four neighbours per pixel; else it is a weighted sum.
  bool interpolates() const { return across.interpolates() && down.interpolates(); }
  // Source pixels that all rows together read.
  uint64_t samples() const;

  const SourcePicture& source;
  Axis across;
  Axis down;
  // For interpolation: the offset of each pair in a source row, and its kPairWeights.
  std::vector<uint32_t> offsets;
  RowBuffer<int16_t> weights;
};

// The rows that one thread makes. Not thread-safe; several may share a plan.
class Resampler {
 public:
  explicit Resampler(const ResamplePlan& plan);

  // Writes row `y` of the result, of plan.across.outputs() pixels, whose lanes are as gathered by
  // SourceRows and range from 0 to 255; and perhaps the rest of a vector behind it.
  void make_row(uint32_t y, float* to);

 private:
  // The pairs of one source row; kept, since the next output row often needs them again.
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
  std::array<GatheredRow, 2> gathered_;  // row y is in the element y % 2
  // For weighted sums: the columns that are needed, their sums, and NV12 rows in RGB.
  size_t pixel_stride_ = 0;
  uint32_t begin_ = 0, end_ = 0;
  RowBuffer<uint8_t> converted_;
  RowBuffer<float> sums_;
};

}  // namespace millrace::vision
