// Resize: oneDNN's resampling if it computes the same coordinates; otherwise a copy by looked-up
// indices (nearest), or interpolation along one dimension after the other (linear).
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/movement/mapped_copy.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/resize.h"
#include "graph/resampling.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::CoordinateMode;
using graph::Resize;
using graph::ResizeMode;
using graph::ValueId;

// One dimension of a resize.
struct Axis {
  int64_t from, to;       // sizes
  graph::Fraction scale;  // the ratio to / from, as the model states it
};

// Returns the position in the input that output index `i` is computed from.
graph::Position source_of(CoordinateMode mode, const Axis& axis, int64_t i) {
  switch (mode) {
    case CoordinateMode::kAsymmetric:
      return graph::asymmetric_position(axis.scale, i);
    case CoordinateMode::kHalfPixel:
      return graph::half_pixel_position(axis.scale, i);
    case CoordinateMode::kPytorchHalfPixel:
      return axis.to > 1 ? graph::half_pixel_position(axis.scale, i) : graph::Position{};
    case CoordinateMode::kAlignCorners:
      return graph::aligned_position({axis.to, axis.from}, axis.from, i);
  }
  return {};
}

std::vector<int64_t> nearest_indices(const Resize& op, const Axis& axis) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < axis.to; ++i)
    indices.push_back(std::clamp<int64_t>(
        graph::nearest_index(op.nearest, source_of(op.coordinates, axis, i)), 0, axis.from - 1));
  return indices;
}

// oneDNN takes the input element whose cell holds the centre of the output element.
bool is_library_nearest(const Resize& op, const Axis& axis) {
  const std::vector<int64_t> indices = nearest_indices(op, axis);
  for (int64_t i = 0; i < axis.to; ++i) {
    // The centre in units of 1 / (2 * to): exact, and on an edge between cells the two may differ.
    const int64_t centre = (2 * i + 1) * axis.from;
    if (centre % (2 * axis.to) == 0 && axis.from != axis.to) return false;
    if (indices[static_cast<size_t>(i)] != centre / (2 * axis.to)) return false;
  }
  return true;
}

// oneDNN's linear resampling has half-pixel coordinates and the exact ratio of the sizes.
bool is_library_linear(const Resize& op, const Axis& axis) {
  if (axis.from == axis.to) return true;
  const bool half_pixel = op.coordinates == CoordinateMode::kHalfPixel ||
                          (op.coordinates == CoordinateMode::kPytorchHalfPixel && axis.to > 1);
  const double ratio = graph::Fraction{axis.to, axis.from}.value();
  return half_pixel && std::fabs(axis.scale.value() - ratio) <= 1e-6 * ratio;
}

std::vector<Axis> axes_of(const Builder& builder, const Node& node, const Resize& op) {
  const Dims from = builder.dims(node.input(0)), to = builder.dims(node.outputs[0]);
  std::vector<Axis> axes;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool stated = i < op.scales.size();
    axes.push_back({from[i], to[i],
                    stated ? graph::fraction_of(op.scales[i], from[i], to[i])
                           : graph::Fraction{to[i], from[i]}});
  }
  return axes;
}

bool is_library_resize(const Resize& op, const std::vector<Axis>& axes) {
  if (axes.size() < 3 || axes.size() > 5) return false;
  for (size_t i = 0; i < 2; ++i)
    if (axes[i].from != axes[i].to) return false;
  return std::ranges::all_of(axes, [&](const Axis& axis) {
    return op.mode == ResizeMode::kNearest ? is_library_nearest(op, axis)
                                           : is_library_linear(op, axis);
  });
}

// Returns false if oneDNN has no fast kernel.
Result<bool> add_library_resize(Builder& builder, const Node& node, const Resize& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  const auto primitive = make_resampling(builder, node, op, layouts_for(now.desc),
                                         any_desc(builder.dims(y), builder.type()));
  if (!primitive) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, primitive->src_desc()));
  add_resampling(builder, *primitive, from, builder.new_result(y, primitive->dst_desc()));
  return true;
}

Status add_nearest(Builder& builder, const Node& node, const Resize& op,
                   const std::vector<Axis>& axes) {
  const Dims strides = plain_strides(builder.dims(node.input(0)));
  CopyMap map;
  for (size_t i = 0; i < axes.size(); ++i) {
    map.push_back(nearest_indices(op, axes[i]));
    for (int64_t& index : map.back()) index *= strides[i];
  }
  return add_mapped_copy(builder, "Resize", node.input(0), node.outputs[0], map);
}

// Two neighbours in the input and the weight of the second.
struct Tap {
  size_t low, high;
  float weight;
};

std::vector<Tap> taps_of(const Resize& op, const Axis& axis) {
  std::vector<Tap> taps;
  for (int64_t i = 0; i < axis.to; ++i) {
    const graph::Position source = source_of(op.coordinates, axis, i);
    const auto low = static_cast<size_t>(std::clamp<int64_t>(source.below, 0, axis.from - 1));
    const size_t high = std::min(low + 1, static_cast<size_t>(axis.from - 1));
    // Before the first element there is nothing to interpolate; after the last, both are the same.
    taps.push_back({low, high, source.below < 0 ? 0.0f : static_cast<float>(source.rest)});
  }
  return taps;
}

// Interpolates along one dimension of a plain tensor [outer, from, inner].
template <class From, class To>
class InterpolateStep final : public Step {
 public:
  InterpolateStep(BufferId from, BufferId to, size_t outer, size_t size, size_t inner,
                  std::vector<Tap> taps)
      : from_(from), to_(to), outer_(outer), size_(size), inner_(inner), taps_(std::move(taps)) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const From* from = state.input<From>(from_);
    To* to = state.output<To>(to_);
    for (size_t outer = 0; outer < outer_; ++outer, from += size_ * inner_)
      for (const Tap& tap : taps_) {
        const From* low = from + tap.low * inner_;
        const From* high = from + tap.high * inner_;
        for (size_t i = 0; i < inner_; ++i)
          to[i] = from_float<To>(to_float(low[i]) +
                                 (to_float(high[i]) - to_float(low[i])) * tap.weight);
        to += inner_;
      }
    return {};
  }

 private:
  BufferId from_, to_;
  size_t outer_, size_, inner_;
  std::vector<Tap> taps_;
};

size_t product(Dims::const_iterator first, Dims::const_iterator last) {
  size_t result = 1;
  for (; first != last; ++first) result *= static_cast<size_t>(*first);
  return result;
}

// Between two dimensions the values are FP32, whatever the type of input and output.
Status add_linear(Builder& builder, const Node& node, const Resize& op,
                  const std::vector<Axis>& axes) {
  const ValueId y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(Operand from, builder.plain(node.input(0)));
  std::vector<size_t> resized;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].from != axes[i].to) resized.push_back(i);
  if (resized.empty()) {
    builder.set_result(y, from);
    return {};
  }
  Dims dims = builder.dims(node.input(0));
  for (size_t i : resized) {
    const size_t outer = product(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i));
    const size_t inner = product(dims.begin() + static_cast<std::ptrdiff_t>(i) + 1, dims.end());
    dims[i] = axes[i].to;
    const bool last = i == resized.back();
    const Operand to = last ? builder.new_result(y, builder.plain_layout(y))
                            : builder.new_temporary(plain_desc(dims, ElementType::f32));
    with_element(from.desc.data_type(), [&](auto a) {
      with_element(to.desc.data_type(), [&](auto b) {
        using Step = InterpolateStep<decltype(a), decltype(b)>;
        builder.add(
            "Resize", "millrace:interpolate",
            std::make_unique<Step>(from.buffer, to.buffer, outer, static_cast<size_t>(axes[i].from),
                                   inner, taps_of(op, axes[i])));
      });
    });
    from = to;
  }
  return {};
}

}  // namespace

std::optional<Resampling> make_resampling(const Builder& builder, const Node& node,
                                          const Resize& op, const std::vector<Desc>& layouts,
                                          const Desc& result) {
  if (!is_library_resize(op, axes_of(builder, node, op))) return std::nullopt;
  const auto algorithm = op.mode == ResizeMode::kNearest ? dnnl::algorithm::resampling_nearest
                                                         : dnnl::algorithm::resampling_linear;
  const auto choice = choose(layouts, [&](const Desc& layout) {
    return find_resampling(builder.engine(), make_attributes(), algorithm, layout, result);
  });
  if (!choice || is_reference(choice->primitive.impl_info_str())) return std::nullopt;
  return choice->primitive;
}

void add_resampling(Builder& builder, const Resampling& primitive, const Operand& from,
                    const Operand& to) {
  builder.buffers().keep_aligned(to.buffer);
  builder.add_primitive("Resize", primitive, dnnl::resampling_forward(primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
}

Status lower(Builder& builder, const Node& node, const Resize& op) {
  if (builder.is_floating(node.input(0))) {
    MILLRACE_ASSIGN_OR_RETURN(const bool done, add_library_resize(builder, node, op));
    if (done) return {};
  }
  const std::vector<Axis> axes = axes_of(builder, node, op);
  return op.mode == ResizeMode::kNearest ? add_nearest(builder, node, op, axes)
                                         : add_linear(builder, node, op, axes);
}

}  // namespace millrace::device::cpu::kernels
