// Operators that select elements by their values: Compress, NonZero, Unique. The number of results
// depends on the elements, so the shape functions need these and count them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// Calls visit(offset of the element) for all elements that are not 0, in order.
template <class Visit>
Status for_each_nonzero(const TensorView& x, Visit&& visit) {
  return visit_element(x.type, [&](auto zero) -> Status {
    const auto elements = x.as<decltype(zero)>();
    for (size_t i = 0; i < elements.size(); ++i)
      if (elements[i] != zero) visit(i);
    return {};
  });
}

Status shape_of_non_zero(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(node.require_elements(0));
  int64_t count = 0;
  MILLRACE_RETURN_IF_ERROR(for_each_nonzero(node.in(0), [&](size_t) { ++count; }));
  node.set(0, DataType::kInt64, {static_cast<int64_t>(node.in(0).rank()), count});
  return {};
}

// The output has one row per dimension of the operand, and one column per element that is not 0.
Status non_zero(const Call& call) {
  const auto dims = call.in(0).dims;
  const auto to = call.out(0).as<int64_t>();
  const auto count = static_cast<size_t>(call.out(0).dims[1]);
  size_t column = 0;
  return for_each_nonzero(call.in(0), [&](size_t offset) {
    for (size_t d = dims.size(); d-- > 0;) {
      const auto size = static_cast<size_t>(dims[d]);
      to[d * count + column] = static_cast<int64_t>(offset % size);
      offset /= size;
    }
    ++column;
  });
}

// Returns the axis of Compress and Unique; without the attribute, the whole operand as one line.
Result<AxisSplit> slices_of(const NodeView& node) {
  const TensorView& x = node.in(0);
  if (!node.has_attribute("axis")) return AxisSplit(Dims{static_cast<int64_t>(x.elements())}, 0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis"), x.rank()));
  return AxisSplit(x.dims, axis);
}

// Returns the dimensions of the operand with `size` slices along the axis; without an axis, those
// of a vector.
Dims dims_with(const NodeView& node, int64_t size) {
  if (!node.has_attribute("axis")) return {size};
  Dims dims = to_dims(node.in(0).dims);
  dims[*graph::normalise_axis(node.integer("axis"), dims.size())] = size;
  return dims;
}

// Computes output[:, k, :] = input[:, chosen[k], :].
void copy_slices(const Call& call, const AxisSplit& split, std::span<const size_t> chosen) {
  const size_t bytes = split.inner * tensor::size_of(call.in(0).type);
  if (bytes == 0) return;
  std::byte* to = call.out(0).data;
  for (size_t outer = 0; outer < split.outer; ++outer) {
    for (const size_t slice : chosen) {
      std::memcpy(to, call.in(0).data + (outer * split.size + slice) * bytes, bytes);
      to += bytes;
    }
  }
}

std::vector<size_t> chosen_by(const TensorView& condition) {
  std::vector<size_t> chosen;
  const auto flags = condition.as<uint8_t>();
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != 0) chosen.push_back(i);
  return chosen;
}

// The condition may be shorter than the axis; slices beyond its end are not selected.
Status shape_of_compress(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const AxisSplit split, slices_of(node));
  if (node.in(1).type != DataType::kBoolean || node.in(1).rank() != 1)
    return invalid_argument("the condition must be BOOLEAN and have rank 1");
  MILLRACE_RETURN_IF_ERROR(node.require_elements(1));
  const auto chosen = chosen_by(node.in(1));
  if (!chosen.empty() && chosen.back() >= split.size)
    return invalid_argument(
        fmt::format("the condition selects slice {}, but there are {}", chosen.back(), split.size));
  node.set(0, node.in(0).type, dims_with(node, static_cast<int64_t>(chosen.size())));
  return {};
}

Status compress(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const AxisSplit split, slices_of(call));
  copy_slices(call, split, chosen_by(call.in(1)));
  return {};
}

// A total order in which NaN is the largest value.
template <class T>
bool comes_before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  }
  return a < b;
}

template <class T>
bool slice_comes_before(const T* x, const AxisSplit& split, size_t a, size_t b) {
  for (size_t outer = 0; outer < split.outer; ++outer) {
    const T* const left = x + (outer * split.size + a) * split.inner;
    const T* const right = x + (outer * split.size + b) * split.inner;
    for (size_t i = 0; i < split.inner; ++i) {
      if (comes_before(left[i], right[i])) return true;
      if (comes_before(right[i], left[i])) return false;
    }
  }
  return false;
}

// The distinct slices, by the index of their first occurrence, and for each slice the number of its
// group.
struct Groups {
  std::vector<size_t> first, of;
};

template <class T>
Groups groups_of_slices(const T* x, const AxisSplit& split) {
  const auto before = [&](size_t a, size_t b) { return slice_comes_before(x, split, a, b); };
  std::vector<size_t> order(split.size);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, before);
  Groups groups;
  groups.of.resize(split.size);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || before(order[i - 1], order[i])) groups.first.push_back(order[i]);
    groups.of[order[i]] = groups.first.size() - 1;
  }
  return groups;
}

// Reorders the groups from the order of their elements to that of their first occurrences.
void order_by_occurrence(Groups& groups) {
  std::vector<size_t> order(groups.first.size()), rank(groups.first.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t group) { return groups.first[group]; });
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::ranges::sort(groups.first);
  for (size_t& group : groups.of) group = rank[group];
}

Result<Groups> groups_of(const NodeView& node, bool sorted) {
  MILLRACE_ASSIGN_OR_RETURN(const AxisSplit split, slices_of(node));
  Groups groups;
  MILLRACE_RETURN_IF_ERROR(visit_element(node.in(0).type, [&](auto zero) -> Status {
    groups = groups_of_slices(node.in(0).as<decltype(zero)>().data(), split);
    return {};
  }));
  if (!sorted) order_by_occurrence(groups);
  return groups;
}

Result<Groups> groups_of(const NodeView& node) {
  return groups_of(node, node.integer("sorted", 1) != 0);
}

void count_members(const Groups& groups, std::span<int64_t> counts) {
  std::ranges::fill(counts, 0);
  for (const size_t group : groups.of) ++counts[group];
}

Status shape_of_unique(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(node.require_elements(0));
  MILLRACE_ASSIGN_OR_RETURN(const Groups groups, groups_of(node));
  const auto count = static_cast<int64_t>(groups.first.size());
  node.set(0, node.in(0).type, dims_with(node, count));
  node.set(1, DataType::kInt64, {count});
  node.set(2, DataType::kInt64, {static_cast<int64_t>(groups.of.size())});
  node.set(3, DataType::kInt64, {count});
  return {};
}

Status unique(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const AxisSplit split, slices_of(call));
  MILLRACE_ASSIGN_OR_RETURN(const Groups groups, groups_of(call));
  copy_slices(call, split, groups.first);
  const auto outputs = call.output_count();
  if (outputs > 1) std::ranges::copy(groups.first, call.out(1).as<int64_t>().begin());
  if (outputs > 2) std::ranges::copy(groups.of, call.out(2).as<int64_t>().begin());
  if (outputs > 3) count_members(groups, call.out(3).as<int64_t>());
  return {};
}

// Unique of com.microsoft: the distinct elements of a vector in the order of their first
// occurrences, the index of the group of each element, and the sizes of the groups.
Status shape_of_unique_of_vector(Inference& node) {
  if (node.in(0).rank() != 1) return invalid_argument("its input must be a vector");
  MILLRACE_RETURN_IF_ERROR(node.require_elements(0));
  MILLRACE_ASSIGN_OR_RETURN(const Groups groups, groups_of(node, false));
  const auto count = static_cast<int64_t>(groups.first.size());
  node.set(0, node.in(0).type, {count});
  node.set(1, DataType::kInt64, to_dims(node.in(0).dims));
  node.set(2, DataType::kInt64, {count});
  return {};
}

Status unique_of_vector(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const AxisSplit split, slices_of(call));
  MILLRACE_ASSIGN_OR_RETURN(const Groups groups, groups_of(call, false));
  copy_slices(call, split, groups.first);
  std::ranges::copy(groups.of, call.out(1).as<int64_t>().begin());
  count_members(groups, call.out(2).as<int64_t>());
  return {};
}

constexpr AttributeSpec kCompress[] = {{"axis", AttributeKind::kInteger}};
constexpr AttributeSpec kUnique[] = {{"axis", AttributeKind::kInteger},
                                     {"sorted", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> selection_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Compress", 9, {2, 2}, {}, kAll, shape_of_compress, compress, kCompress, true},
      {"NonZero", 9, {}, {}, kAll, shape_of_non_zero, non_zero, {}, true},
      {"Unique", 11, {}, {1, 4}, kAll, shape_of_unique, unique, kUnique, true},
      {"com.microsoft.Unique",
       1,
       {},
       {3, 3},
       kAll,
       shape_of_unique_of_vector,
       unique_of_vector,
       {},
       true},
  };
  return kOperators;
}

}  // namespace millrace::fallback
