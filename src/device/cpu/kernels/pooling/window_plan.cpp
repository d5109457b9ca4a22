#include "device/cpu/kernels/pooling/window_plan.h"

#include <algorithm>

namespace millrace::device::cpu::kernels {

using graph::Dims;

namespace {

// Returns how many of `limit` taps from `start` on are before `end`.
int64_t taps_before(int64_t start, int64_t end, int64_t dilation, int64_t limit) {
  if (end <= start) return 0;
  return std::min(limit, (end - start + dilation - 1) / dilation);
}

WindowAxis axis_of(const graph::Pool& op, size_t d, int64_t size, int64_t positions) {
  WindowAxis axis{size, op.dilations[d], {}};
  const int64_t kernel = op.kernel[d], dilation = op.dilations[d];
  for (int64_t i = 0; i < positions; ++i) {
    const int64_t start = i * op.strides[d] - op.pads_begin[d];
    const int64_t hidden = taps_before(start, 0, dilation, kernel);
    const int64_t inside = taps_before(start, size, dilation, kernel) - hidden;
    const int64_t end = size + op.pads_end[d] - op.ceil_excess[d];
    const int64_t counted =
        op.count_include_pad ? taps_before(start, end, dilation, kernel) : inside;
    axis.positions.push_back({start + hidden * dilation, inside, counted});
  }
  return axis;
}

}  // namespace

WindowPlan window_plan(const graph::Pool& op, const Dims& from, const Dims& to) {
  WindowPlan plan;
  const size_t spatial = op.kernel.size();
  for (size_t d = 0; d < spatial; ++d)
    plan[plan.size() - spatial + d] = axis_of(op, d, from[d + 2], to[d + 2]);
  return plan;
}

}  // namespace millrace::device::cpu::kernels
