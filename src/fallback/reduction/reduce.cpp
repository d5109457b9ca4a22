// The Reduce operators of the standard, for the types that the Reduce of the graph does not support
// and for reductions without terms: an empty sum is 0, an empty product 1, and the maximum of no
// elements the lowest value of the type. Each kind is a struct with a start value, a step and a
// final step. Floating-point sums are computed in double; integers wrap around.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fallback/broadcast.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

constexpr size_t kAxes = 1;  // an operand, or the attribute of earlier operator sets

// Returns the axes that the attribute or the operand lists. Requirement: the elements of the
// operand are known.
Dims listed_axes(const NodeView& node) {
  if (const Dims* attribute = node.integers("axes")) return *attribute;
  Dims axes;
  if (!node.has(kAxes)) return axes;
  for (size_t i = 0; i < node.in(kAxes).elements(); ++i)
    axes.push_back(index_at(node.in(kAxes), i));
  return axes;
}

// Returns, for each dimension, whether it is reduced.
Result<std::vector<bool>> reduced_dims(const NodeView& node) {
  const Dims axes = listed_axes(node);
  const size_t rank = node.in(0).rank();
  std::vector<bool> reduced(rank, axes.empty() && node.integer("noop_with_empty_axes") == 0);
  for (const int64_t axis : axes) {
    MILLRACE_ASSIGN_OR_RETURN(const size_t d, graph::normalise_axis(axis, rank));
    if (reduced[d]) return invalid_argument("the axes list a dimension twice");
    reduced[d] = true;
  }
  return reduced;
}

// Returns the dimensions of the input, with 1 for those that are reduced.
Dims kept_dims(const NodeView& node, const std::vector<bool>& reduced) {
  Dims dims = to_dims(node.in(0).dims);
  for (size_t d = 0; d < dims.size(); ++d)
    if (reduced[d]) dims[d] = 1;
  return dims;
}

Status shape_of_reduce(Inference& node) {
  const bool listed = node.has(kAxes) && node.in(kAxes).elements() != 0;
  if (listed) MILLRACE_RETURN_IF_ERROR(node.known_integers(kAxes).status());
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<bool> reduced, reduced_dims(node));
  const bool keep = node.integer("keepdims", 1) != 0;
  Dims dims;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) dims.push_back(node.in(0).dims[d]);
    if (reduced[d] && keep) dims.push_back(1);
  }
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

Result<BroadcastWalk<1>> walk_over_terms(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<bool> reduced, reduced_dims(call));
  const Dims kept = kept_dims(call, reduced);
  return BroadcastWalk<1>(call.in(0).dims, {std::span<const int64_t>(kept)});
}

// Calls visit(index in the input, index in the output) for all elements of the input.
template <class Visit>
Status for_each_term(const Call& call, Visit&& visit) {
  MILLRACE_ASSIGN_OR_RETURN(const BroadcastWalk<1> walk, walk_over_terms(call));
  walk.for_each_row([&](const BroadcastRow<1>& row) {
    for (size_t i = 0; i < row.length; ++i) visit(row.out + i, row.in[0] + i * row.step[0]);
  });
  return {};
}

struct SumTerms {
  template <class T>
  using Total = reference::Sum<T>;
  template <class A>
  static A start() {
    return 0;
  }
  template <class A>
  static A add(A total, A x) {
    return reference::Add{}(total, x);
  }
  template <class A>
  static A finish(A total, size_t) {
    return total;
  }
};

struct MultiplyTerms : SumTerms {
  template <class A>
  static A start() {
    return 1;
  }
  template <class A>
  static A add(A total, A x) {
    return reference::Mul{}(total, x);
  }
};

struct AverageTerms : SumTerms {
  template <class T>
  using Total = reference::WideSum<T>;
  // The mean of no terms is NaN, and 0 for integers.
  template <class A>
  static A finish(A total, size_t count) {
    if constexpr (std::is_integral_v<A>)
      return count == 0 ? A{0} : total / static_cast<A>(count);
    else
      return total / static_cast<A>(count);
  }
};

struct SumSquares : SumTerms {
  template <class A>
  static A add(A total, A x) {
    return reference::add_product<A>(total, x, x);
  }
};

struct SumMagnitudes : SumTerms {
  template <class A>
  static A add(A total, A x) {
    return x < 0 ? reference::Sub{}(total, x) : reference::Add{}(total, x);
  }
};

// If an element is NaN, so is the result, as in numpy.
struct FindLargest : SumTerms {
  template <class T>
  using Total = T;
  template <class A>
  static A start() {
    if constexpr (std::is_floating_point_v<A>) return -std::numeric_limits<A>::infinity();
    return std::numeric_limits<A>::lowest();
  }
  template <class A>
  static A add(A total, A x) {
    return reference::Max{}(total, x);
  }
};

struct FindSmallest : FindLargest {
  template <class A>
  static A start() {
    if constexpr (std::is_floating_point_v<A>) return std::numeric_limits<A>::infinity();
    return std::numeric_limits<A>::max();
  }
  template <class A>
  static A add(A total, A x) {
    return reference::Min{}(total, x);
  }
};

// Computed in double for integers as well, since the root need not be an integer.
struct Norm : SumTerms {
  template <class>
  using Total = double;
  template <class A>
  static A add(A total, A x) {
    return total + x * x;
  }
  template <class A>
  static A finish(A total, size_t) {
    return std::sqrt(total);
  }
};

struct LogOfSum : SumTerms {
  template <class>
  using Total = double;
  template <class A>
  static A finish(A total, size_t) {
    return std::log(total);
  }
};

template <class Kind>
Status reduce(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    using A = typename Kind::template Total<T>;
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    std::vector<A> totals(y.size(), Kind::template start<A>());
    MILLRACE_RETURN_IF_ERROR(for_each_term(call, [&](size_t from, size_t to) {
      totals[to] = Kind::add(totals[to], static_cast<A>(x[from]));
    }));
    const size_t count = x.size() / y.size();
    for (size_t i = 0; i < y.size(); ++i) {
      const A result = Kind::finish(totals[i], count);
      if constexpr (std::is_same_v<A, double>)
        y[i] = reference::cast_to<T>(result);
      else
        y[i] = static_cast<T>(result);
    }
    return {};
  });
}

// Computes the maximum or minimum. For BOOLEANs this is whether any or all elements are true.
template <class Kind>
Status reduce_extreme(const Call& call) {
  if (call.in(0).type != DataType::kBoolean) return reduce<Kind>(call);
  const bool any = std::is_same_v<Kind, FindLargest>;
  const auto x = call.in(0).as<uint8_t>();
  const auto y = call.out(0).as<uint8_t>();
  std::ranges::fill(y, uint8_t{any ? 0 : 1});
  return for_each_term(call, [&](size_t from, size_t to) {
    if ((x[from] != 0) == any) y[to] = any ? 1 : 0;
  });
}

// Computes log(sum(exp(x))) without overflow, by subtracting the maximum.
Status log_sum_exp(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    std::vector<double> largest(y.size(), FindLargest::start<double>()), sums(y.size(), 0);
    MILLRACE_RETURN_IF_ERROR(for_each_term(call, [&](size_t from, size_t to) {
      largest[to] = FindLargest::add(largest[to], static_cast<double>(x[from]));
    }));
    // Infinite maxima are not subtracted: the difference of two infinities would be NaN.
    for (double& value : largest)
      if (std::isinf(value)) value = 0;
    MILLRACE_RETURN_IF_ERROR(for_each_term(call, [&](size_t from, size_t to) {
      sums[to] += std::exp(static_cast<double>(x[from]) - largest[to]);
    }));
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = reference::cast_to<T>(largest[i] + std::log(sums[i]));
    return {};
  });
}

constexpr AttributeSpec kReduce[] = {{"axes", AttributeKind::kIntegers},
                                     {"keepdims", AttributeKind::kInteger},
                                     {"noop_with_empty_axes", AttributeKind::kInteger}};
constexpr TypeSet kOrdered = kNumbers | kBooleans;

}  // namespace

std::span<const OperatorSpec> reduce_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"ReduceL1", 1, {1, 2}, {}, kNumbers, shape_of_reduce, reduce<SumMagnitudes>, kReduce},
      {"ReduceL2", 1, {1, 2}, {}, kNumbers, shape_of_reduce, reduce<Norm>, kReduce},
      {"ReduceLogSum", 1, {1, 2}, {}, kNumbers, shape_of_reduce, reduce<LogOfSum>, kReduce},
      {"ReduceLogSumExp", 1, {1, 2}, {}, kNumbers, shape_of_reduce, log_sum_exp, kReduce},
      {"ReduceMax", 1, {1, 2}, {}, kOrdered, shape_of_reduce, reduce_extreme<FindLargest>, kReduce},
      {"ReduceMean", 1, {1, 2}, {}, kNumbers, shape_of_reduce, reduce<AverageTerms>, kReduce},
      {"ReduceMin",
       1,
       {1, 2},
       {},
       kOrdered,
       shape_of_reduce,
       reduce_extreme<FindSmallest>,
       kReduce},
      {"ReduceProd", 1, {1, 2}, {}, kNumbers, shape_of_reduce, reduce<MultiplyTerms>, kReduce},
      {"ReduceSum", 1, {1, 2}, {}, kNumbers, shape_of_reduce, reduce<SumTerms>, kReduce},
      {"ReduceSumSquare", 1, {1, 2}, {}, kNumbers, shape_of_reduce, reduce<SumSquares>, kReduce},
  };
  return kOperators;
}

}  // namespace millrace::fallback
