// Iterates over an output and the operands that are broadcast to it, as in numpy. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fallback/tensor_view.h"

namespace millrace::fallback {

// Consecutive elements of the output: the offset, in elements, at which they start in the output
// and in each operand, and the step of each operand per element of the output: 0 or 1.
template <size_t kOperands>
struct BroadcastRow {
  size_t out = 0, length = 0;
  std::array<size_t, kOperands> in{};
  std::array<size_t, kOperands> step{};
};

// The rows of a broadcast: the output is a loop nest over dimensions merged as far as possible, of
// which a row is the innermost loop. Instantiated for one, two and three operands in broadcast.cpp,
// since the kernels use it for every operation and type.
template <size_t kOperands>
class BroadcastWalk {
 public:
  // Requirement: each operand's dimensions broadcast to `output`.
  BroadcastWalk(std::span<const int64_t> output,
                const std::array<std::span<const int64_t>, kOperands>& operands);

  // Calls visit(row) for all rows, in the order of the output.
  template <class Visit>
  void for_each_row(Visit&& visit) const {
    Position at = begin();
    while (!at.ended) {
      visit(std::as_const(at.row));
      advance(at);
    }
  }

 private:
  struct Axis {
    size_t size = 1;
    std::array<size_t, kOperands> strides{};
  };
  struct Position {
    BroadcastRow<kOperands> row;
    std::vector<size_t> index;  // along each axis; the innermost one stays 0
    bool ended = false;
  };

  // Adds the next outer dimension. It is merged with the previous one if that is contiguous in all
  // operands.
  void add(const Axis& axis);
  Position begin() const;
  void advance(Position& at) const;

  std::vector<Axis> axes_;  // innermost first
};
extern template class BroadcastWalk<1>;
extern template class BroadcastWalk<2>;
extern template class BroadcastWalk<3>;

// Computes to[i] = f(a[i], b[i]), where a and b are broadcast to `dims`.
template <class A, class B, class To, class Function>
void apply_broadcast(const TensorView& a, const TensorView& b, std::span<const int64_t> dims,
                     To* to, Function&& f) {
  const A* const left = a.as<A>().data();
  const B* const right = b.as<B>().data();
  const BroadcastWalk<2> walk(dims, {a.dims, b.dims});
  walk.for_each_row([&](const BroadcastRow<2>& row) {
    const A* x = left + row.in[0];
    const B* y = right + row.in[1];
    To* z = to + row.out;
    // The usual cases are separate loops, so that the compiler vectorises them.
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
