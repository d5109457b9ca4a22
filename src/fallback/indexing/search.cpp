// Operators that search or accumulate along an axis: ArgMax, ArgMin, TopK, Hardmax, CumSum,
// CumProd. NaN orders as in numpy: ArgMax, ArgMin and Hardmax return the first NaN, and TopK treats
// NaN as the largest value.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// Requirement: the shape function has accepted the attribute.
size_t axis_attribute(const NodeView& node, int64_t absent) {
  return *graph::normalise_axis(node.integer("axis", absent), node.in(0).rank());
}

Status shape_of_arg(Inference& node) {
  const bool keep = node.integer("keepdims", 1) != 0;
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis"), node.in(0).rank()));
  Dims dims = to_dims(node.in(0).dims);
  if (dims[axis] == 0) return invalid_argument("the axis has no elements");
  if (keep)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  node.set(0, DataType::kInt64, std::move(dims));
  return {};
}

// Orders NaN before all other values, as numpy does, and the others by Compare. This is a strict
// weak order, which std::partial_sort requires.
template <class Compare>
struct NanFirst {
  template <class T>
  bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    }
    return Compare{}(a, b);
  }
};
using Larger = NanFirst<std::greater<>>;
// The reverse order of Larger, so that NaN is the largest value in both.
struct Smaller {
  template <class T>
  bool operator()(T a, T b) const {
    return Larger{}(b, a);
  }
};

// Returns the index of the first element of a line that no other beats; with `last`, the last of
// equal ones.
template <class T, class Beats>
int64_t best_index(const T* line, const AxisSplit& split, bool last, Beats&& beats) {
  size_t best = 0;
  for (size_t i = 1; i < split.size; ++i) {
    const T candidate = line[i * split.inner], holder = line[best * split.inner];
    if (beats(candidate, holder) || (last && !beats(holder, candidate))) best = i;
  }
  return static_cast<int64_t>(best);
}

template <class Beats>
Status arg(const Call& call) {
  const AxisSplit split(call.in(0).dims, axis_attribute(call, 0));
  const bool last = call.integer("select_last_index") != 0;
  const auto to = call.out(0).as<int64_t>();
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    const auto x = call.in(0).as<decltype(zero)>();
    for (size_t line = 0; line < split.lines(); ++line)
      to[line] = best_index(x.data() + split.start(line), split, last, Beats{});
    return {};
  });
}

Status shape_of_top_k(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis", -1), node.in(0).rank()));
  // In the first operator sets, k is an attribute.
  int64_t k = node.integer("k", -1);
  if (node.has(1)) {
    MILLRACE_ASSIGN_OR_RETURN(k, node.known_integer(1));
  }
  Dims dims = to_dims(node.in(0).dims);
  if (k < 0 || k > dims[axis]) return invalid_argument("k must be from 0 to the size of the axis");
  dims[axis] = k;
  node.set(0, node.in(0).type, dims);
  node.set(1, DataType::kInt64, std::move(dims));
  return {};
}

// Computes the indices of the best k elements of a line, in order; of equal elements, the lower
// index first.
template <class T, class Beats>
void rank_line(const T* line, const AxisSplit& split, size_t k, std::vector<int64_t>& indices,
               Beats&& beats) {
  indices.resize(split.size);
  std::iota(indices.begin(), indices.end(), int64_t{0});
  const auto before = [&](int64_t a, int64_t b) {
    const T x = line[static_cast<size_t>(a) * split.inner];
    const T y = line[static_cast<size_t>(b) * split.inner];
    if (beats(x, y)) return true;
    return !beats(y, x) && a < b;
  };
  std::partial_sort(indices.begin(), indices.begin() + static_cast<ptrdiff_t>(k), indices.end(),
                    before);
}

template <class T, class Beats>
void top_k_of(const Call& call, Beats&& beats) {
  const size_t axis = axis_attribute(call, -1);
  const AxisSplit from(call.in(0).dims, axis), to(call.out(0).dims, axis);
  const T* const x = call.in(0).as<T>().data();
  const auto values = call.out(0).as<T>();
  std::vector<int64_t> indices;
  for (size_t line = 0; line < from.lines(); ++line) {
    const T* const elements = x + from.start(line);
    rank_line(elements, from, to.size, indices, beats);
    for (size_t i = 0; i < to.size; ++i) {
      const size_t at = to.start(line) + i * to.inner;
      values[at] = elements[static_cast<size_t>(indices[i]) * from.inner];
      if (call.output_count() > 1) call.out(1).as<int64_t>()[at] = indices[i];
    }
  }
}

// `sorted` = 0 leaves the order undefined; it is the same here.
Status top_k(const Call& call) {
  if (call.out(0).elements() == 0) return {};
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    if (call.integer("largest", 1) != 0)
      top_k_of<decltype(zero)>(call, Larger{});
    else
      top_k_of<decltype(zero)>(call, Smaller{});
    return {};
  });
}

Status shape_of_cumulative(Inference& node) {
  const TensorView& axis = node.in(1);
  if (!kIndexTypes.contains(axis.type) || axis.elements() != 1)
    return invalid_argument("the axis must be one INT32 or INT64");
  if (axis.data != nullptr)
    MILLRACE_RETURN_IF_ERROR(graph::normalise_axis(index_at(axis, 0), node.in(0).rank()).status());
  return same_as_first(node);
}

// Accumulates the elements of a line with Function, whose neutral element is `neutral`.
template <class Function, class T>
void accumulate_line(const T* from, T* to, const AxisSplit& split, T neutral, bool exclusive,
                     bool reverse) {
  T sum = neutral;
  for (size_t i = 0; i < split.size; ++i) {
    const size_t at = (reverse ? split.size - 1 - i : i) * split.inner;
    const T next = Function{}(sum, from[at]);
    to[at] = exclusive ? sum : next;
    sum = next;
  }
}

template <class Function, int kNeutral>
Status accumulate(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(index_at(call.in(1), 0), call.in(0).rank()));
  const AxisSplit split(call.in(0).dims, axis);
  const bool exclusive = call.integer("exclusive") != 0, reverse = call.integer("reverse") != 0;
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t line = 0; line < split.lines(); ++line) {
      const size_t start = split.start(line);
      accumulate_line<Function>(call.in(0).as<T>().data() + start,
                                call.out(0).as<T>().data() + start, split, static_cast<T>(kNeutral),
                                exclusive, reverse);
    }
    return {};
  });
}

Status shape_of_hardmax(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(
      graph::normalise_axis(node.integer("axis", -1), node.in(0).rank()).status());
  return same_as_first(node);
}

Status hardmax(const Call& call) {
  const AxisSplit split(call.in(0).dims, axis_attribute(call, -1));
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto y = call.out(0).as<T>();
    std::ranges::fill(y, T{0});
    for (size_t line = 0; line < split.lines(); ++line) {
      const size_t start = split.start(line);
      const int64_t best = best_index(call.in(0).as<T>().data() + start, split, false, Larger{});
      y[start + static_cast<size_t>(best) * split.inner] = 1;
    }
    return {};
  });
}

constexpr AttributeSpec kArg[] = {{"axis", AttributeKind::kInteger},
                                  {"keepdims", AttributeKind::kInteger},
                                  {"select_last_index", AttributeKind::kInteger}};
constexpr AttributeSpec kTopK[] = {{"axis", AttributeKind::kInteger},
                                   {"k", AttributeKind::kInteger},
                                   {"largest", AttributeKind::kInteger},
                                   {"sorted", AttributeKind::kInteger}};
constexpr AttributeSpec kCumulative[] = {{"exclusive", AttributeKind::kInteger},
                                         {"reverse", AttributeKind::kInteger}};
constexpr AttributeSpec kAxis[] = {{"axis", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> search_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"ArgMax", 1, {}, {}, kNumbers, shape_of_arg, arg<Larger>, kArg},
      {"ArgMin", 1, {}, {}, kNumbers, shape_of_arg, arg<NanFirst<std::less<>>>, kArg},
      {"CumProd",
       26,
       {2, 2},
       {},
       kNumbers,
       shape_of_cumulative,
       accumulate<reference::Mul, 1>,
       kCumulative},
      {"CumSum",
       11,
       {2, 2},
       {},
       kNumbers,
       shape_of_cumulative,
       accumulate<reference::Add, 0>,
       kCumulative},
      {"Hardmax", 13, {}, {}, kReals, shape_of_hardmax, hardmax, kAxis},
      {"TopK", 1, {1, 2}, {1, 2}, kNumbers, shape_of_top_k, top_k, kTopK},
  };
  return kOperators;
}

}  // namespace millrace::fallback
