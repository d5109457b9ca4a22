#include "device/cpu/kernels/quantised/vnni/channel_groups.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// Each vector of sums of a wide group has every fourth four channels.
size_t Group::channel(size_t number) const {
  if (size == kNarrow) return first + number;
  constexpr size_t kFour = 4;
  const size_t vector = number / kNarrow, lane = number % kNarrow;
  return first + lane / kFour * kNarrow + vector * kFour + lane % kFour;
}

std::vector<Group> groups_of(size_t channels) {
  std::vector<Group> groups;
  for (size_t at = 0; at < channels; at = groups.back().first + groups.back().size)
    groups.push_back(group_at(channels, at));
  return groups;
}

namespace {

void append(Scaling& to, const Scaling& from, size_t channel) {
  to.starts.push_back(from.starts[channel]);
  to.biases.push_back(from.biases[channel]);
  to.factors.push_back(from.factors[channel]);
}

}  // namespace

Scaling arranged(const Scaling& scaling) {
  Scaling result;
  for (const Group& group : groups_of(scaling.starts.size()))
    for (size_t i = 0; i < group.size; ++i) append(result, scaling, group.channel(i));
  return result;
}

Scaling arranged_in_planes(const Scaling& scaling) {
  Scaling result;
  for (size_t first = 0; first < scaling.starts.size(); first += kNarrow)
    for (size_t i = 0; i < kWide; ++i) append(result, scaling, first + channel_in_plane(i));
  return result;
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
