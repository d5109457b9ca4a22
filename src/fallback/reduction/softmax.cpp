// Softmax and LogSoftmax for types that the Softmax of the graph does not support. Exponentials and
// sums are computed in double, after subtracting the maximum.
#include <algorithm>
#include <cmath>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

Status shape_of_softmax(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(
      graph::normalise_axis(node.integer("axis", -1), node.in(0).rank()).status());
  return same_as_first(node);
}

// Calls store(offset of the element, its difference from the maximum, sum of the exponentials of
// all differences) for all elements of a line.
template <class T, class Store>
void for_each_of_line(const T* line, const AxisSplit& split, Store&& store) {
  double largest = line[0], sum = 0;
  for (size_t i = 1; i < split.size; ++i)
    largest = std::max(largest, static_cast<double>(line[i * split.inner]));
  for (size_t i = 0; i < split.size; ++i) sum += std::exp(line[i * split.inner] - largest);
  for (size_t i = 0; i < split.size; ++i)
    store(i * split.inner, line[i * split.inner] - largest, sum);
}

template <bool kLog>
Status softmax(const Call& call) {
  const TensorView& x = call.in(0);
  const AxisSplit split(x.dims, *graph::normalise_axis(call.integer("axis", -1), x.rank()));
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t line = 0; line < split.lines(); ++line) {
      const size_t start = split.start(line);
      T* const to = call.out(0).as<T>().data() + start;
      for_each_of_line(
          x.as<T>().data() + start, split, [&](size_t at, double distance, double sum) {
            to[at] = static_cast<T>(kLog ? distance - std::log(sum) : std::exp(distance) / sum);
          });
    }
    return {};
  });
}

constexpr AttributeSpec kAxis[] = {{"axis", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> softmax_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"LogSoftmax", 13, {}, {}, kReals, shape_of_softmax, softmax<true>, kAxis},
      {"Softmax", 13, {}, {}, kReals, shape_of_softmax, softmax<false>, kAxis},
  };
  return kOperators;
}

}  // namespace millrace::fallback
