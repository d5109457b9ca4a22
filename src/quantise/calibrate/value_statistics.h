// ValueStatistics: what calibration has seen of one value of a graph, over all samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/operators.h"
#include "quantise/calibrate/histogram.h"

namespace millrace::quantise {

struct ChannelStatistics {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  double sum = 0;
  uint64_t count = 0;

  double mean() const noexcept { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

class ValueStatistics {
 public:
  // Statistics of a value of this shape, separate for each index of dimension `channel_axis`; of
  // all elements together if the shape has no such dimension.
  ValueStatistics(const graph::Dims& shape, size_t channel_axis);

  // Adds one sample, in C order. False where an element is not finite.
  bool add(std::span<const float> elements);

  float low() const noexcept { return low_; }    // infinite where there are no elements
  float high() const noexcept { return high_; }  // likewise
  std::span<const ChannelStatistics> channels() const noexcept { return channels_; }
  const Histogram& histogram() const noexcept { return histogram_; }

 private:
  size_t run_ = 1;  // elements in a row that belong to one channel
  float low_ = std::numeric_limits<float>::infinity();
  float high_ = -std::numeric_limits<float>::infinity();
  std::vector<ChannelStatistics> channels_;
  Histogram histogram_;
};

}  // namespace millrace::quantise
