// Walks over an output with operands that broadcast to it, as in numpy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fallback/tensor_view.h"

namespace millrace::fallback {

// A stretch of the output along its last dimensions: where it starts, in elements, in the output
// and in each operand, and how far the operands move per element of the output: 0 or 1.
template <size_t kOperands>
struct Row {
  size_t out = 0, length = 0;
  std::array<size_t, kOperands> in{};
  std::array<size_t, kOperands> step{};
};

template <size_t kOperands>
class BroadcastWalk {
 public:
  // Requirement: each operand's dimensions broadcast to `output`.
  BroadcastWalk(std::span<const int64_t> output,
                const std::array<std::span<const int64_t>, kOperands>& operands) {
    std::array<size_t, kOperands> dense;
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

  // Calls visit(row) for all rows, in the order of the output.
  template <class Visit>
  void for_each_row(Visit&& visit) const {
    Row<kOperands> row;
    row.length = axes_[0].size;
    row.step = axes_[0].strides;
    for (const Axis& axis : axes_)
      if (axis.size == 0) return;
    std::vector<size_t> index(axes_.size(), 0);
    for (;;) {
      visit(row);
      row.out += row.length;
      size_t d = 1;
      for (; d < axes_.size(); ++d) {
        for (size_t i = 0; i < kOperands; ++i) row.in[i] += axes_[d].strides[i];
        if (++index[d] < axes_[d].size) break;
        for (size_t i = 0; i < kOperands; ++i) row.in[i] -= axes_[d].strides[i] * axes_[d].size;
        index[d] = 0;
      }
      if (d >= axes_.size()) return;
    }
  }

 private:
  struct Axis {
    size_t size = 1;
    std::array<size_t, kOperands> strides{};
  };

  // Dimensions that all operands walk through in one go become one.
  void add(const Axis& axis) {
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

  std::vector<Axis> axes_;  // innermost first
};

// to[i] = f(a[i], b[i]) over a broadcast.
template <class A, class B, class To, class Function>
void apply_broadcast(const TensorView& a, const TensorView& b, std::span<const int64_t> dims,
                     To* to, Function&& f) {
  const A* const left = a.as<A>().data();
  const B* const right = b.as<B>().data();
  const BroadcastWalk<2> walk(dims, {a.dims, b.dims});
  walk.for_each_row([&](const Row<2>& row) {
    const A* x = left + row.in[0];
    const B* y = right + row.in[1];
    To* z = to + row.out;
    // The usual cases apart, so that the compiler uses vectors.
    if (row.step[0] == 1 && row.step[1] == 1) {
      for (size_t i = 0; i < row.length; ++i) z[i] = f(x[i], y[i]);
    } else if (row.step[0] == 1) {
      for (size_t i = 0; i < row.length; ++i) z[i] = f(x[i], *y);
    } else {
      for (size_t i = 0; i < row.length; ++i) z[i] = f(x[i * row.step[0]], y[i * row.step[1]]);
    }
  });
}

}  // namespace millrace::fallback
