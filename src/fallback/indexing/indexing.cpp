// Operators that gather and scatter elements by index tensors: GatherElements, GatherND,
// ScatterElements (and the earlier Scatter), ScatterND; and OneHot and Trilu. Indices may come from
// untrusted callers, so the kernels check each one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "graph/reference/index_offsets.h"

namespace millrace::fallback {
namespace {

Status check_indices(const Inference& node, size_t index) {
  if (kIndexTypes.contains(node.in(index).type)) return {};
  return invalid_argument(fmt::format("indices are {}, expected INT32 or INT64",
                                      tensor::to_string(node.in(index).type)));
}

// Resolves negative indices, which count from the end, and checks the range.
Result<size_t> checked_index(int64_t index, int64_t size) {
  if (index >= -size && index < size) return static_cast<size_t>(index < 0 ? index + size : index);
  return invalid_argument(fmt::format("index {} is outside a dimension of {}", index, size));
}

// How an update is combined with the previous element.
enum class Reduction : uint8_t { kNone, kAdd, kMul, kMin, kMax };

Result<Reduction> reduction_of(const NodeView& node) {
  const std::string name = node.text("reduction", "none");
  if (name == "none") return Reduction::kNone;
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMul;
  if (name == "min") return Reduction::kMin;
  if (name == "max") return Reduction::kMax;
  return invalid_argument(fmt::format("unknown reduction '{}'", name));
}

template <class T>
void combine(Reduction reduction, T& target, T update) {
  switch (reduction) {
    case Reduction::kNone:
      target = update;
      return;
    case Reduction::kAdd:
      target = reference::Add{}(target, update);
      return;
    case Reduction::kMul:
      target = reference::Mul{}(target, update);
      return;
    case Reduction::kMin:
      target = reference::Min{}(target, update);
      return;
    case Reduction::kMax:
      target = reference::Max{}(target, update);
      return;
  }
}

// The indices of GatherElements and ScatterElements: each element of the index tensor selects one
// element of the data, at the same position in all dimensions but the axis.
class ElementIndices {
 public:
  ElementIndices(const TensorView& data, const TensorView& indices, size_t axis)
      : data_(data),
        indices_(indices),
        axis_(axis),
        strides_(reference::dense_strides(data.dims)) {}

  // Calls visit(position in the index tensor, offset in the data).
  template <class Visit>
  Status for_each(Visit&& visit) const {
    std::vector<size_t> at(indices_.rank(), 0);
    const size_t count = indices_.elements();
    for (size_t position = 0; position < count; ++position) {
      MILLRACE_ASSIGN_OR_RETURN(const size_t chosen,
                                checked_index(index_at(indices_, position), data_.dims[axis_]));
      size_t offset = chosen * static_cast<size_t>(strides_[axis_]);
      for (size_t d = 0; d < at.size(); ++d)
        if (d != axis_) offset += at[d] * static_cast<size_t>(strides_[d]);
      visit(position, offset);
      for (size_t d = at.size(); d-- > 0;) {
        if (++at[d] < static_cast<size_t>(indices_.dims[d])) break;
        at[d] = 0;
      }
    }
    return {};
  }

 private:
  const TensorView& data_;
  const TensorView& indices_;
  size_t axis_;
  Dims strides_;
};

// Checks that the index tensor has the rank of the data and exceeds it in no dimension but the
// axis.
Status check_element_indices(const Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_indices(node, 1));
  const TensorView &data = node.in(0), &indices = node.in(1);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis"), data.rank()));
  bool fits = indices.rank() == data.rank();
  for (size_t d = 0; fits && d < data.rank(); ++d)
    fits = d == axis || indices.dims[d] <= data.dims[d];
  if (fits) return {};
  return invalid_argument(fmt::format("indices {} do not fit the data {}",
                                      graph::to_string(to_dims(indices.dims)),
                                      graph::to_string(to_dims(data.dims))));
}

Status shape_of_gather_elements(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_element_indices(node));
  node.set(0, node.in(0).type, to_dims(node.in(1).dims));
  return {};
}

Status gather_elements(const Call& call) {
  const size_t axis = *graph::normalise_axis(call.integer("axis"), call.in(0).rank());
  const ElementIndices indices(call.in(0), call.in(1), axis);
  return visit_storage(call.in(0).type, [&](auto zero) {
    const auto data = call.in(0).as<decltype(zero)>();
    const auto to = call.out(0).as<decltype(zero)>();
    return indices.for_each([&](size_t position, size_t offset) { to[position] = data[offset]; });
  });
}

Status shape_of_scatter_elements(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_element_indices(node));
  MILLRACE_RETURN_IF_ERROR(reduction_of(node).status());
  if (node.in(2).type != node.in(0).type)
    return invalid_argument("updates and data differ in type");
  if (!std::ranges::equal(node.in(2).dims, node.in(1).dims))
    return invalid_argument("updates must have the shape of the indices");
  return same_as_first(node);
}

void copy_first(const Call& call) {
  std::memcpy(call.out(0).data, call.in(0).data,
              call.in(0).elements() * tensor::size_of(call.in(0).type));
}

Status scatter_elements(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Reduction reduction, reduction_of(call));
  const size_t axis = *graph::normalise_axis(call.integer("axis"), call.in(0).rank());
  const ElementIndices indices(call.in(0), call.in(1), axis);
  copy_first(call);
  return visit_element(call.in(0).type, [&](auto zero) {
    const auto updates = call.in(2).as<decltype(zero)>();
    const auto to = call.out(0).as<decltype(zero)>();
    return indices.for_each(
        [&](size_t position, size_t offset) { combine(reduction, to[offset], updates[position]); });
  });
}

// The indices of GatherND and ScatterND: the last dimension of the index tensor holds coordinates
// in the data, which select slices of it. The first `batch` dimensions of both tensors are the
// same.
class SliceIndices {
 public:
  SliceIndices(const TensorView& data, const TensorView& indices, size_t batch)
      : data_(data),
        indices_(indices),
        batch_(batch),
        strides_(reference::dense_strides(data.dims)) {
    depth_ = static_cast<size_t>(indices.dims.back());
    for (size_t d = batch + depth_; d < data.rank(); ++d)
      slice_ *= static_cast<size_t>(data.dims[d]);
    for (size_t d = batch; d + 1 < indices.rank(); ++d)
      per_batch_ *= static_cast<size_t>(indices.dims[d]);
    for (size_t d = batch; d < data.rank(); ++d)
      batch_elements_ *= static_cast<size_t>(data.dims[d]);
    for (size_t d = 0; d + 1 < indices.rank(); ++d) count_ *= static_cast<size_t>(indices.dims[d]);
  }

  size_t slice() const { return slice_; }  // elements per slice

  // Calls visit(number of the slice, offset in the data).
  template <class Visit>
  Status for_each(Visit&& visit) const {
    for (size_t i = 0; i < count_; ++i) {
      size_t offset = i / per_batch_ * batch_elements_;
      for (size_t c = 0; c < depth_; ++c) {
        MILLRACE_ASSIGN_OR_RETURN(
            const size_t index,
            checked_index(index_at(indices_, i * depth_ + c), data_.dims[batch_ + c]));
        offset += index * static_cast<size_t>(strides_[batch_ + c]);
      }
      visit(i, offset);
    }
    return {};
  }

 private:
  const TensorView& data_;
  const TensorView& indices_;
  size_t batch_, depth_ = 0, slice_ = 1, per_batch_ = 1, batch_elements_ = 1, count_ = 1;
  Dims strides_;
};

Status check_slice_indices(const Inference& node, size_t batch) {
  MILLRACE_RETURN_IF_ERROR(check_indices(node, 1));
  const TensorView &data = node.in(0), &indices = node.in(1);
  if (data.rank() == 0 || indices.rank() == 0) return invalid_argument("an operand has rank 0");
  bool fits = batch < data.rank() && batch < indices.rank() && indices.dims.back() >= 1 &&
              static_cast<size_t>(indices.dims.back()) <= data.rank() - batch;
  for (size_t d = 0; fits && d < batch; ++d) fits = data.dims[d] == indices.dims[d];
  if (fits) return {};
  return invalid_argument(fmt::format("indices {} do not fit the data {}",
                                      graph::to_string(to_dims(indices.dims)),
                                      graph::to_string(to_dims(data.dims))));
}

// Returns the dimensions of all slices together: those of the indices but the last, followed by
// those of a slice.
Dims slices_shape(const NodeView& node, size_t batch) {
  const TensorView &data = node.in(0), &indices = node.in(1);
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), data.dims.begin() + static_cast<ptrdiff_t>(batch) + indices.dims.back(),
              data.dims.end());
  return dims;
}

Status shape_of_gather_nd(Inference& node) {
  const int64_t batch = node.integer("batch_dims");
  if (batch < 0) return invalid_argument("batch_dims is negative");
  MILLRACE_RETURN_IF_ERROR(check_slice_indices(node, static_cast<size_t>(batch)));
  node.set(0, node.in(0).type, slices_shape(node, static_cast<size_t>(batch)));
  return {};
}

Status gather_nd(const Call& call) {
  const SliceIndices indices(call.in(0), call.in(1),
                             static_cast<size_t>(call.integer("batch_dims")));
  const size_t element = tensor::size_of(call.in(0).type), bytes = indices.slice() * element;
  return indices.for_each([&](size_t number, size_t offset) {
    std::memcpy(call.out(0).data + number * bytes, call.in(0).data + offset * element, bytes);
  });
}

Status shape_of_scatter_nd(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_slice_indices(node, 0));
  MILLRACE_RETURN_IF_ERROR(reduction_of(node).status());
  if (node.in(2).type != node.in(0).type)
    return invalid_argument("updates and data differ in type");
  if (to_dims(node.in(2).dims) != slices_shape(node, 0))
    return invalid_argument("updates must have the shape of the slices that the indices select");
  return same_as_first(node);
}

Status scatter_nd(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Reduction reduction, reduction_of(call));
  const SliceIndices indices(call.in(0), call.in(1), 0);
  copy_first(call);
  return visit_element(call.in(0).type, [&](auto zero) {
    const auto updates = call.in(2).as<decltype(zero)>();
    const auto to = call.out(0).as<decltype(zero)>();
    return indices.for_each([&](size_t number, size_t offset) {
      for (size_t i = 0; i < indices.slice(); ++i)
        combine(reduction, to[offset + i], updates[number * indices.slice() + i]);
    });
  });
}

Status shape_of_one_hot(Inference& node) {
  if (!kNumbers.contains(node.in(1).type) || !node.has(2))
    return invalid_argument("depth must have a numeric type, and values must be given");
  const TensorView& depth = node.in(1);
  MILLRACE_RETURN_IF_ERROR(node.require_elements(1));
  if (depth.elements() != 1) return invalid_argument("depth must have one element");
  int64_t size = 0;
  MILLRACE_RETURN_IF_ERROR(visit_element(depth.type, [&](auto zero) -> Status {
    const auto value = depth.as<decltype(zero)>()[0];
    // Written so that NaN is refused.
    if (!(value >= 0 && static_cast<double>(value) <= static_cast<double>(graph::kMaxElements)))
      return invalid_argument("depth is out of range");
    size = static_cast<int64_t>(value);
    return {};
  }));
  if (node.in(2).rank() != 1 || node.in(2).dims[0] != 2 || !kAll.contains(node.in(2).type))
    return invalid_argument("values must be two elements of a supported type");
  Dims dims = to_dims(node.in(0).dims);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis", -1), dims.size() + 1));
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), size);
  node.set(0, node.in(2).type, std::move(dims));
  return {};
}

// Indices outside of the depth set no element. Negative ones count from the end, as from operator
// set 11 on; by the text of sets 9 and 10 they set none, but other runtimes count from the end
// there, too.
Status one_hot(const Call& call) {
  const size_t axis = *graph::normalise_axis(call.integer("axis", -1), call.in(0).rank() + 1);
  const AxisSplit split(call.out(0).dims, axis);
  return visit_element(call.in(0).type, [&](auto index) {
    return visit_storage(call.out(0).type, [&](auto zero) -> Status {
      using T = decltype(zero);
      const T off = call.in(2).as<T>()[0], on = call.in(2).as<T>()[1];
      const auto indices = call.in(0).as<decltype(index)>();
      const auto to = call.out(0).as<T>();
      std::ranges::fill(to, off);
      const auto size = static_cast<double>(split.size);
      for (size_t line = 0; line < split.lines(); ++line) {
        auto chosen = std::trunc(static_cast<double>(indices[line]));
        if (chosen < 0) chosen += size;
        if (chosen >= 0 && chosen < size)
          to[split.start(line) + static_cast<size_t>(chosen) * split.inner] = on;
      }
      return {};
    });
  });
}

Status shape_of_trilu(Inference& node) {
  if (node.in(0).rank() < 2) return invalid_argument("its input must have rank 2 or more");
  if (node.has(1) && (node.in(1).type != DataType::kInt64 || node.in(1).elements() != 1))
    return invalid_argument("k must be one INT64");
  return same_as_first(node);
}

Status trilu(const Call& call) {
  const bool upper = call.integer("upper", 1) != 0;
  const auto dims = call.in(0).dims;
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  // k is clamped to the matrix, since all diagonals outside of it are equivalent.
  const int64_t k = call.has(1) ? std::clamp(call.in(1).as<int64_t>()[0], -rows, columns) : 0;
  copy_first(call);
  return visit_storage(call.in(0).type, [&](auto zero) -> Status {
    const auto to = call.out(0).as<decltype(zero)>();
    for (size_t i = 0; i < to.size(); ++i) {
      const int64_t column = static_cast<int64_t>(i) % columns;
      const int64_t row = static_cast<int64_t>(i) / columns % rows;
      if (upper ? column < row + k : column > row + k) to[i] = 0;
    }
    return {};
  });
}

constexpr AttributeSpec kAxis[] = {{"axis", AttributeKind::kInteger}};
constexpr AttributeSpec kScatterElements[] = {{"axis", AttributeKind::kInteger},
                                              {"reduction", AttributeKind::kText}};
constexpr AttributeSpec kGatherNd[] = {{"batch_dims", AttributeKind::kInteger}};
constexpr AttributeSpec kScatterNd[] = {{"reduction", AttributeKind::kText}};
constexpr AttributeSpec kTrilu[] = {{"upper", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> indexing_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"GatherElements", 11, {2, 2}, {}, kAll, shape_of_gather_elements, gather_elements, kAxis},
      {"GatherND", 11, {2, 2}, {}, kAll, shape_of_gather_nd, gather_nd, kGatherNd},
      {"OneHot", 9, {3, 3}, {}, kNumbers, shape_of_one_hot, one_hot, kAxis},
      {"Scatter", 9, {3, 3}, {}, kAll, shape_of_scatter_elements, scatter_elements, kAxis},
      {"ScatterElements",
       11,
       {3, 3},
       {},
       kAll,
       shape_of_scatter_elements,
       scatter_elements,
       kScatterElements},
      {"ScatterND", 11, {3, 3}, {}, kAll, shape_of_scatter_nd, scatter_nd, kScatterNd},
      {"Trilu", 14, {1, 2}, {}, kAll, shape_of_trilu, trilu, kTrilu},
  };
  return kOperators;
}

}  // namespace millrace::fallback
