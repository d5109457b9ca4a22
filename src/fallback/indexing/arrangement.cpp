// Operators that rearrange elements regardless of their values: ReverseSequence, Pad,
// CenterCropPad, EyeLike. Padding and cropping use one table per dimension that maps each output
// index to an input index, or to the constant.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "graph/reference/index_offsets.h"

namespace millrace::fallback {
namespace {

using reference::kFill;

// Requires that batch_axis and time_axis are dimensions 0 and 1, in either order.
Status shape_of_reverse_sequence(Inference& node) {
  const TensorView &x = node.in(0), &lengths = node.in(1);
  const int64_t batch = node.integer("batch_axis", 1), time = node.integer("time_axis", 0);
  if (x.rank() < 2 || batch < 0 || batch > 1 || time != 1 - batch)
    return invalid_argument("batch_axis and time_axis must be the first two dimensions");
  if (lengths.type != DataType::kInt64 || lengths.rank() != 1 ||
      lengths.dims[0] != x.dims[static_cast<size_t>(batch)])
    return invalid_argument("sequence_lens must have one INT64 for each sequence");
  return same_as_first(node);
}

Status reverse_sequence(const Call& call) {
  const TensorView& x = call.in(0);
  const bool time_first = call.integer("time_axis", 0) == 0;
  const auto rows = static_cast<size_t>(x.dims[0]), columns = static_cast<size_t>(x.dims[1]);
  const size_t steps = time_first ? rows : columns;
  const size_t bytes = element_count(x.dims.subspan(2)) * tensor::size_of(x.type);
  const auto lengths = call.in(1).as<int64_t>();
  for (size_t sample = 0; sample < lengths.size(); ++sample)
    if (lengths[sample] < 0 || static_cast<size_t>(lengths[sample]) > steps)
      return invalid_argument(fmt::format("sequence {} has length {}, but there are {} steps",
                                          sample, lengths[sample], steps));
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const size_t step = time_first ? row : column, sample = time_first ? column : row;
      const auto length = static_cast<size_t>(lengths[sample]);
      const size_t from = step < length ? length - 1 - step : step;
      const size_t source = time_first ? from * columns + column : row * columns + from;
      std::memcpy(call.out(0).data + (row * columns + column) * bytes, x.data + source * bytes,
                  bytes);
    }
  }
  return {};
}

// How padding is filled (attribute mode of Pad).
enum class Border : uint8_t { kConstant, kReflect, kEdge, kWrap };

// One dimension that is padded or cropped from size `from` to size `to`: its new index `index` is
// the old index `index - before`. A negative `before` crops.
struct Margin {
  int64_t from = 1, to = 1, before = 0;
};

// Returns the old index of the element at a new index; kFill if the constant is there.
int64_t source_of(Border border, const Margin& margin, int64_t index) {
  const int64_t at = index - margin.before;
  if (margin.from == 0) return kFill;
  switch (border) {
    case Border::kConstant:
      return reference::padded_index(graph::PadMode::kConstant, at, margin.from);
    case Border::kReflect:
      return reference::padded_index(graph::PadMode::kReflect, at, margin.from);
    case Border::kEdge:
      return reference::padded_index(graph::PadMode::kEdge, at, margin.from);
    case Border::kWrap:
      return (at % margin.from + margin.from) % margin.from;
  }
  return kFill;
}

template <class T>
void fill_with_margins(const TensorView& from, const OutputView& to,
                       std::span<const Margin> margins, Border border, T constant) {
  const Dims strides = reference::dense_strides(from.dims);
  reference::IndexOffsets offsets(margins.size());
  for (size_t d = 0; d < margins.size(); ++d)
    for (int64_t i = 0; i < margins[d].to; ++i) {
      const int64_t source = source_of(border, margins[d], i);
      offsets[d].push_back(source == kFill ? kFill : source * strides[d]);
    }
  std::ranges::fill(to.as<T>(), constant);
  reference::copy_by_offsets(offsets, from.as<T>().data(), to.as<T>().data());
}

Dims dims_after(std::span<const Margin> margins) {
  Dims dims;
  for (const Margin& margin : margins) dims.push_back(margin.to);
  return dims;
}

// Returns the dimensions to which an operator applies: those of `axes`, or all.
Result<std::vector<size_t>> chosen_axes(const Dims* axes, size_t rank) {
  std::vector<size_t> chosen;
  for (size_t i = 0; axes == nullptr ? i < rank : i < axes->size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(
        const size_t axis,
        graph::normalise_axis(axes == nullptr ? static_cast<int64_t>(i) : (*axes)[i], rank));
    if (std::ranges::find(chosen, axis) != chosen.end())
      return invalid_argument(fmt::format("axis {} stands twice", axis));
    chosen.push_back(axis);
  }
  return chosen;
}

std::vector<Margin> no_margins(const TensorView& x) {
  std::vector<Margin> margins;
  for (const int64_t dim : x.dims) margins.push_back({dim, dim, 0});
  return margins;
}

Result<std::vector<Margin>> centred_margins(const NodeView& node) {
  std::vector<Margin> margins = no_margins(node.in(0));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<size_t> axes,
                            chosen_axes(node.integers("axes"), margins.size()));
  const Dims shape = integers_of(node.in(1));
  if (shape.size() != axes.size())
    return invalid_argument(fmt::format("{} sizes for {} axes", shape.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    Margin& margin = margins[axes[i]];
    if (shape[i] < 0 || shape[i] > graph::kMaxElements)
      return invalid_argument(fmt::format("size {} is out of range", shape[i]));
    margin.to = shape[i];
    // If the difference is odd, one element more is added or cropped at the end.
    margin.before =
        margin.to >= margin.from ? (margin.to - margin.from) / 2 : -((margin.from - margin.to) / 2);
  }
  return margins;
}

Status shape_of_center_crop_pad(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(node.known_integers(1).status());
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Margin> margins, centred_margins(node));
  node.set(0, node.in(0).type, dims_after(margins));
  return {};
}

Status center_crop_pad(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Margin> margins, centred_margins(call));
  return visit_storage(call.in(0).type, [&](auto zero) -> Status {
    fill_with_margins(call.in(0), call.out(0), margins, Border::kConstant, zero);
    return {};
  });
}

Result<Border> border_of(const NodeView& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") return Border::kConstant;
  if (mode == "reflect") return Border::kReflect;
  if (mode == "edge") return Border::kEdge;
  if (mode == "wrap") return Border::kWrap;
  return invalid_argument(fmt::format("unknown mode '{}'", mode));
}

constexpr size_t kPads = 1, kConstant = 2, kPadAxes = 3;

// Pads are an operand, or an attribute before operator set 11.
Result<Dims> pads_of(const NodeView& node) {
  if (node.has(kPads)) return integers_of(node.in(kPads));
  // The first operator set calls the attribute "paddings".
  for (const char* name : {"pads", "paddings"})
    if (const Dims* pads = node.integers(name)) return *pads;
  return invalid_argument("it has no pads");
}

Result<std::vector<Margin>> padded_margins(const NodeView& node) {
  std::vector<Margin> margins = no_margins(node.in(0));
  const Dims stated = node.has(kPadAxes) ? integers_of(node.in(kPadAxes)) : Dims{};
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<size_t> axes,
                            chosen_axes(node.has(kPadAxes) ? &stated : nullptr, margins.size()));
  MILLRACE_ASSIGN_OR_RETURN(const Dims pads, pads_of(node));
  if (pads.size() != 2 * axes.size())
    return invalid_argument(fmt::format("pads {} do not have two numbers for each of {} dimensions",
                                        graph::to_string(pads), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t before = pads[i], after = pads[axes.size() + i];
    for (const int64_t pad : {before, after})
      if (pad < -graph::kMaxElements || pad > graph::kMaxElements)
        return invalid_argument(fmt::format("padding {} is out of range", pad));
    Margin& margin = margins[axes[i]];
    margin.before = before;
    margin.to = margin.from + before + after;
    if (margin.to < 0)
      return invalid_argument(
          fmt::format("pads {} cut more than dimension {} has", graph::to_string(pads), axes[i]));
  }
  return margins;
}

Status shape_of_pad(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Border border, border_of(node));
  for (const size_t index : {kPads, kPadAxes})
    if (node.has(index)) MILLRACE_RETURN_IF_ERROR(node.known_integers(index).status());
  if (node.has(kConstant) && node.in(kConstant).elements() > 0 &&
      (node.in(kConstant).type != node.in(0).type || node.in(kConstant).elements() != 1))
    return invalid_argument("the constant must be one element of the input's type");
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Margin> margins, padded_margins(node));
  for (const Margin& margin : margins)
    if (border != Border::kConstant && margin.from == 0 && margin.to > 0)
      return invalid_argument("an empty dimension has no elements to pad with");
  node.set(0, node.in(0).type, dims_after(margins));
  return {};
}

template <class T>
T constant_of(const Call& call) {
  if (call.has(kConstant) && call.in(kConstant).elements() == 1)
    return call.in(kConstant).as<T>()[0];
  // Before operator set 11 the constant is an attribute; only floating-point types had one.
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(call.real("value"));
  return T{0};
}

Status pad(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Border border, border_of(call));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Margin> margins, padded_margins(call));
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    fill_with_margins<T>(call.in(0), call.out(0), margins, border, constant_of<T>(call));
    return {};
  });
}

Status shape_of_eye_like(Inference& node) {
  if (node.in(0).rank() != 2) return invalid_argument("its input must have rank 2");
  DataType type = node.in(0).type;
  if (node.has_attribute("dtype")) {
    MILLRACE_ASSIGN_OR_RETURN(type, type_of_number(node.integer("dtype")));
  }
  node.set(0, type, to_dims(node.in(0).dims));
  return {};
}

Status eye_like(const Call& call) {
  const int64_t rows = call.out(0).dims[0], columns = call.out(0).dims[1];
  // k is clamped to the matrix, since all diagonals outside of it are empty.
  const int64_t k = std::clamp(call.integer("k"), -rows, columns);
  return visit_element(call.out(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto y = call.out(0).as<T>();
    std::ranges::fill(y, T{0});
    for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row)
      y[static_cast<size_t>(row * columns + row + k)] = T{1};
    return {};
  });
}

constexpr AttributeSpec kCenterCropPad[] = {{"axes", AttributeKind::kIntegers}};
constexpr AttributeSpec kEyeLike[] = {{"dtype", AttributeKind::kInteger},
                                      {"k", AttributeKind::kInteger}};
constexpr AttributeSpec kPad[] = {{"mode", AttributeKind::kText},
                                  {"paddings", AttributeKind::kIntegers},
                                  {"pads", AttributeKind::kIntegers},
                                  {"value", AttributeKind::kFloat}};
constexpr AttributeSpec kReverseSequence[] = {{"batch_axis", AttributeKind::kInteger},
                                              {"time_axis", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> arrangement_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"CenterCropPad",
       18,
       {2, 2},
       {},
       kAll,
       shape_of_center_crop_pad,
       center_crop_pad,
       kCenterCropPad},
      {"EyeLike", 9, {}, {}, kAll, shape_of_eye_like, eye_like, kEyeLike},
      {"Pad", 1, {1, 4}, {}, kAll, shape_of_pad, pad, kPad},
      {"ReverseSequence",
       10,
       {2, 2},
       {},
       kAll,
       shape_of_reverse_sequence,
       reverse_sequence,
       kReverseSequence},
  };
  return kOperators;
}

}  // namespace millrace::fallback
