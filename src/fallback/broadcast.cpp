#include "fallback/broadcast.h"

namespace millrace::fallback {

template <size_t kOperands>
BroadcastWalk<kOperands>::BroadcastWalk(
    std::span<const int64_t> output,
    const std::array<std::span<const int64_t>, kOperands>& operands) {
  std::array<size_t, kOperands> dense;  // strides without broadcasting
  dense.fill(1);
  for (size_t back = 0; back < output.size(); ++back) {
    Axis axis{static_cast<size_t>(output[output.size() - 1 - back]), {}};
    for (size_t i = 0; i < kOperands; ++i) {
      const auto dims = operands[i];
      const int64_t dim = back < dims.size() ? dims[dims.size() - 1 - back] : 1;
      axis.strides[i] = dim == 1 ? 0 : dense[i];
      dense[i] *= static_cast<size_t>(dim);
    }
    add(axis);
  }
  if (axes_.empty()) axes_.push_back({1, {}});
}

template <size_t kOperands>
void BroadcastWalk<kOperands>::add(const Axis& axis) {
  if (axis.size == 1) return;
  if (!axes_.empty()) {
    Axis& inner = axes_.back();
    bool joins = true;
    for (size_t i = 0; i < kOperands; ++i)
      joins = joins && axis.strides[i] == inner.strides[i] * inner.size;
    if (joins) {
      inner.size *= axis.size;
      return;
    }
  }
  axes_.push_back(axis);
}

template <size_t kOperands>
typename BroadcastWalk<kOperands>::Position BroadcastWalk<kOperands>::begin() const {
  Position at;
  at.row.length = axes_[0].size;
  at.row.step = axes_[0].strides;
  at.index.assign(axes_.size(), 0);
  for (const Axis& axis : axes_) at.ended = at.ended || axis.size == 0;
  return at;
}

template <size_t kOperands>
void BroadcastWalk<kOperands>::advance(Position& at) const {
  BroadcastRow<kOperands>& row = at.row;
  row.out += row.length;
  size_t d = 1;
  for (; d < axes_.size(); ++d) {
    for (size_t i = 0; i < kOperands; ++i) row.in[i] += axes_[d].strides[i];
    if (++at.index[d] < axes_[d].size) break;
    for (size_t i = 0; i < kOperands; ++i) row.in[i] -= axes_[d].strides[i] * axes_[d].size;
    at.index[d] = 0;
  }
  at.ended = d >= axes_.size();
}

template class BroadcastWalk<1>;
template class BroadcastWalk<2>;
template class BroadcastWalk<3>;

}  // namespace millrace::fallback
