#include "quantise/calibrate/value_statistics.h"

#include <algorithm>
#include <cmath>

namespace millrace::quantise {
namespace {

// Returns the least and the greatest element and the sum. The sum is not finite if an element is a
// NaN or an infinity; std::min and std::max may ignore a NaN.
ChannelStatistics statistics_of(std::span<const float> elements) {
  ChannelStatistics seen;
  seen.count = elements.size();
  for (const float element : elements) {
    seen.low = std::min(seen.low, element);
    seen.high = std::max(seen.high, element);
    seen.sum += double{element};
  }
  return seen;
}

void add_to(ChannelStatistics& all, const ChannelStatistics& more) {
  all.low = std::min(all.low, more.low);
  all.high = std::max(all.high, more.high);
  all.sum += more.sum;
  all.count += more.count;
}

}  // namespace

ValueStatistics::ValueStatistics(const graph::Dims& shape, size_t channel_axis) {
  if (channel_axis >= shape.size()) {
    channels_.resize(1);
    run_ = std::numeric_limits<size_t>::max();
    return;
  }
  channels_.resize(static_cast<size_t>(shape[channel_axis]));
  for (size_t i = channel_axis + 1; i < shape.size(); ++i) run_ *= static_cast<size_t>(shape[i]);
}

bool ValueStatistics::add(std::span<const float> elements) {
  for (size_t at = 0, channel = 0; at < elements.size(); ++channel) {
    const auto run = elements.subspan(at, std::min(run_, elements.size() - at));
    const ChannelStatistics seen = statistics_of(run);
    if (!std::isfinite(seen.sum)) return false;
    add_to(channels_[channel % channels_.size()], seen);
    low_ = std::min(low_, seen.low);
    high_ = std::max(high_, seen.high);
    at += run.size();
  }
  if (!elements.empty()) histogram_.add(elements, std::max(std::abs(low_), std::abs(high_)));
  return true;
}

}  // namespace millrace::quantise
