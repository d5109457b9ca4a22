// ValueStatistics: the statistics that calibration collects of one value of a graph over all
// samples: range, range and mean of each channel, and a histogram. One thread at a time may change
// them.
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
  // For a value of this shape. Dimension `channel_axis` has the channels; if the shape has no such
  // dimension, all elements belong to one channel.
  ValueStatistics(const graph::Dims& shape, size_t channel_axis);

  // Adds the elements of one sample, in C order. Returns false if one is not finite; some of them
  // may have been added then.
  bool add(std::span<const float> elements);

  // The least and the greatest element: +infinity and -infinity as long as there are none.
  float low() const noexcept { return low_; }
  float high() const noexcept { return high_; }
  std::span<const ChannelStatistics> channels() const noexcept { return channels_; }
  const Histogram& histogram() const noexcept { return histogram_; }

 private:
  size_t run_ = 1;  // consecutive elements that belong to one channel
  float low_ = std::numeric_limits<float>::infinity();
  float high_ = -std::numeric_limits<float>::infinity();
  std::vector<ChannelStatistics> channels_;
  Histogram histogram_;
};

}  // namespace millrace::quantise
