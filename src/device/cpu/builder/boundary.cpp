// How boundary tensors are connected. For each view that callers may bind there are three cases:
// the view has the wanted layout and type, so that the buffer of the value is the caller's memory;
// oneDNN can describe the view, so that one reorder copies it; or neither, so that
// tensor::Conversion converts between the view and a dense tensor, in FP32 for floating point
// values and in their own type for others. Each step runs only in jobs that bind its view
// (ViewCondition).
//
// The integers of a quantised value are delivered and taken without a floating point copy if the HW
// view holds the same integers, or integers of another scale (RequantisedBoundary).
#include "device/cpu/builder/boundary.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/builder/byte_conversion.h"
#include "tensor/conversion/conversion.h"
#include "tensor/dimensions.h"

namespace millrace::device::cpu {
namespace {

using tensor::DataType;
using tensor::TensorDesc;

constexpr View kViews[] = {View::kCpu, View::kHw};

CallerTensor in_hw_view(Direction direction, uint32_t index) {
  CallerTensor caller{direction, index, {}};
  caller.in_view[static_cast<size_t>(View::kHw)] = true;
  return caller;
}

const TensorDesc& desc_of(const graph::Boundary& boundary, View view) {
  return view == View::kHw ? *boundary.hw : boundary.cpu;
}

// Describes a view of elements of `type` to oneDNN, if oneDNN can read and write that layout.
std::optional<Desc> describe(const TensorDesc& view, const Dims& dims, ElementType type) {
  const uint32_t block = tensor::channel_block(view.layout);
  if (block > 0 && dims.size() == 4) return hcwnc_desc(dims, type, static_cast<int>(block));
  if (view.shape.empty()) return plain_desc(dims, type);
  const auto order = tensor::order_of(view);
  if (!order.ok() || order->size() != dims.size()) return std::nullopt;
  return ordered_desc(dims, type, *order);
}

// Describes a view of a floating point tensor.
std::optional<Desc> describe(const TensorDesc& view, const Dims& dims) {
  if (view.type == DataType::kBf16) return describe(view, dims, ElementType::bf16);
  if (view.type == DataType::kFloat32) return describe(view, dims, ElementType::f32);
  return std::nullopt;
}

// Returns the dense form that every view can be converted to: in FP32 for floating point values, in
// their own type for others.
TensorDesc staging_desc(const graph::Boundary& boundary) {
  TensorDesc desc = boundary.cpu;
  if (tensor::fits_float32(desc.type)) desc.type = DataType::kFloat32;
  return desc;
}

enum class Towards { kCpu, kHw };

// Runs a tensor::Conversion, where oneDNN cannot describe the view. `cpu` and `hw` are the two
// sides of the conversion, which need not be the views of these names.
class ConversionStep final : public Step {
 public:
  ConversionStep(tensor::Conversion conversion, Towards towards, BufferId cpu, BufferId hw)
      : conversion_(std::move(conversion)), towards_(towards), cpu_(cpu), hw_(hw) {}
  std::vector<BufferId> buffers() const override { return {cpu_, hw_}; }
  Status run(const RunState& state) const noexcept override {
    if (towards_ == Towards::kCpu)
      conversion_.to_cpu(state.buffers[hw_], state.buffers[cpu_]);
    else
      conversion_.to_hw(state.buffers[cpu_], state.buffers[hw_]);
    return {};
  }

 private:
  tensor::Conversion conversion_;
  Towards towards_;
  BufferId cpu_, hw_;
};

// One boundary tensor while its steps are added.
class BoundaryTensor {
 public:
  BoundaryTensor(Builder& builder, Direction direction, uint32_t index)
      : builder_(builder),
        boundary_(direction == Direction::kInput ? builder.model().inputs[index]
                                                 : builder.model().outputs[index]),
        direction_(direction),
        index_(index) {
    for (View view : kViews)
      if (accepts_view(boundary_, view)) views_.push_back(view);
  }

  const graph::Boundary& boundary() const { return boundary_; }

  // Returns the views that hold the value exactly in the layout `desc`, so that no copy is needed.
  CallerTensor views_lying_as(const Desc& desc) const {
    CallerTensor caller{direction_, index_, {}};
    for (View view : views_) caller.in_view[static_cast<size_t>(view)] = onednn_desc(view) == desc;
    return caller;
  }
  bool covers_all(const CallerTensor& caller) const {
    for (View view : views_)
      if (!caller.covers(view)) return false;
    return true;
  }

  // Adds the steps between `location` and every view not covered by `direct`.
  Status connect(const Operand& location, const CallerTensor& direct) {
    for (View view : views_)
      if (!direct.covers(view)) MILLRACE_RETURN_IF_ERROR(connect(location, view));
    return {};
  }

 private:
  // Quantised values are integers to callers, too.
  bool is_floating() const { return tensor::fits_float32(boundary_.cpu.type); }

  // Describes the view to oneDNN, or nothing where oneDNN cannot read and write it.
  std::optional<Desc> onednn_desc(View view) const {
    const TensorDesc& desc = desc_of(boundary_, view);
    if (is_floating()) return describe(desc, builder_.dims(boundary_.value));
    // The order is compared, too: a permutation of equal dimensions does not change the shape.
    const auto order = tensor::order_of(desc);
    const bool as_declared =
        desc.type == boundary_.cpu.type && order.ok() && std::ranges::is_sorted(*order);
    if (!as_declared) return std::nullopt;
    if (builder_.is_quantised(boundary_.value)) return builder_.plain_stored_form(boundary_.value);
    return builder_.plain_layout(boundary_.value);
  }

  Status connect(const Operand& location, View view) {
    CallerTensor caller{direction_, index_, {}};
    caller.in_view[static_cast<size_t>(view)] = true;
    const ViewCondition condition{direction_, index_, view};
    const TensorDesc& desc = desc_of(boundary_, view);
    const BufferId buffer = builder_.buffers().add_caller(caller, desc.bytes(), /*or_arena=*/false);
    if (const auto described = onednn_desc(view)) {
      add_reorder({buffer, *described}, location, condition);
      return {};
    }
    auto conversion = tensor::Conversion::plan(staging_desc(boundary_), desc, boundary_.quant);
    if (!conversion.ok()) return conversion.status();
    const Operand dense = staging(location);
    const Towards towards = direction_ == Direction::kInput ? Towards::kCpu : Towards::kHw;
    auto step =
        std::make_unique<ConversionStep>(*std::move(conversion), towards, dense.buffer, buffer);
    const bool copy = dense.buffer != location.buffer;
    if (copy && direction_ == Direction::kOutput) add_reorder(dense, location, condition);
    builder_.add("Convert", "millrace:conversion", std::move(step), condition, boundary_.value);
    if (copy && direction_ == Direction::kInput) add_reorder(dense, location, condition);
    return {};
  }

  // Returns `location` if it is dense and in FP32, or integers; otherwise new memory that is.
  Operand staging(const Operand& location) const {
    if (!is_floating()) return location;
    const Desc dense = plain_desc(builder_.dims(boundary_.value), ElementType::f32);
    return location.desc == dense ? location : builder_.new_temporary(dense);
  }

  void add_reorder(const Operand& outside, const Operand& inside, const ViewCondition& condition) {
    if (direction_ == Direction::kInput)
      builder_.add_reorder(boundary_.value, outside, inside, condition);
    else
      builder_.add_reorder(boundary_.value, inside, outside, condition);
  }

  Builder& builder_;
  const graph::Boundary& boundary_;
  const Direction direction_;
  const uint32_t index_;
  std::vector<View> views_;
};

}  // namespace

bool accepts_view(const graph::Boundary& boundary, View view) {
  if (view == View::kHw) return boundary.hw.has_value();
  if (!boundary.hw || boundary.requantised) return true;
  if (boundary.cpu == *boundary.hw) return true;
  return boundary.cpu.type == DataType::kFloat32 && boundary.hw->type == DataType::kFloat32;
}

Result<Operand> bind_input(Builder& builder, uint32_t index, const Desc& wanted) {
  BoundaryTensor tensor(builder, Direction::kInput, index);
  const CallerTensor direct = tensor.views_lying_as(wanted);
  const Operand location{
      builder.buffers().add_caller(direct, wanted.get_size(), !tensor.covers_all(direct)), wanted};
  MILLRACE_RETURN_IF_ERROR(tensor.connect(location, direct));
  return location;
}

std::optional<Desc> desc_of_bytes(const Builder& builder, const graph::Boundary& boundary,
                                  graph::ValueId quantised) {
  const graph::Quantisation& quantisation = builder.quantisation(quantised);
  if (!boundary.hw || boundary.hw->type != builder.value(quantised).type ||
      quantisation.is_per_axis() || accepts_view(boundary, View::kCpu))
    return std::nullopt;
  const bool same = static_cast<float>(boundary.quant.scale) == quantisation.scales[0] &&
                    boundary.quant.zero_point == quantisation.zero_points[0];
  if (!same) return std::nullopt;
  return describe(*boundary.hw, builder.dims(boundary.value), builder.stored_type(quantised));
}

Operand bind_bytes(Builder& builder, uint32_t index, const Desc& desc) {
  const CallerTensor caller = in_hw_view(Direction::kInput, index);
  const size_t bytes = builder.model().inputs[index].hw->bytes();
  return {builder.buffers().add_caller(caller, bytes, /*or_arena=*/false), desc};
}

namespace {

// Requantises bytes: dequantises them by one scale and quantises by another.
class RequantiseStep final : public Step {
 public:
  struct Side {
    BufferId buffer;
    ByteConversion conversion;
    tensor::ElementRule rule;
  };
  RequantiseStep(size_t count, const Side& from, const Side& to)
      : count_(count), from_(from), to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_.buffer, to_.buffer}; }
  Status run(const RunState& state) const noexcept override {
    const auto* from = state.input<std::byte>(from_.buffer);
    auto* to = state.output<std::byte>(to_.buffer);
    std::array<float, kChunk> numbers;
    for (size_t at = 0; at < count_; at += kChunk) {
      const size_t count = std::min(kChunk, count_ - at);
      from_.conversion.dequantise(from + at, numbers.data(), count, from_.rule);
      to_.conversion.quantise(numbers.data(), to + at, count, to_.rule);
    }
    return {};
  }

 private:
  static constexpr size_t kChunk = 1024;  // elements that stay in the L1 cache
  const size_t count_;
  const Side from_, to_;
};

// Connects a boundary whose HW view is requantised with the integers of the graph's value
// `quantised`, which are in the layout of that view, but have the type and the scale of the graph.
class RequantisedBoundary {
 public:
  RequantisedBoundary(Builder& builder, Direction direction, uint32_t index,
                      graph::ValueId quantised)
      : builder_(builder),
        boundary_(direction == Direction::kInput ? builder.model().inputs[index]
                                                 : builder.model().outputs[index]),
        direction_(direction),
        index_(index),
        quantised_(quantised),
        graph_view_(*boundary_.hw) {
    graph_view_.type = builder.value(quantised).type;
  }

  // Returns nothing where oneDNN cannot describe the layout.
  std::optional<Desc> desc() const {
    return describe(graph_view_, builder_.dims(boundary_.value), builder_.stored_type(quantised_));
  }

  // Adds the steps between `own`, memory of bytes() in the layout desc(), and the caller's views.
  Status connect(BufferId own) {
    connect_hw(own);
    return connect_cpu(own);
  }

  size_t bytes() const { return graph_view_.bytes(); }

 private:
  tensor::QuantParams own_parameters() const {
    const graph::Quantisation& own = builder_.quantisation(quantised_);
    return {own.scales[0], own.zero_points[0], tensor::Rounding::kNearestEven};
  }

  RequantiseStep::Side side(BufferId buffer, DataType type,
                            const tensor::QuantParams& parameters) const {
    return {buffer,
            ByteConversion(type),
            {static_cast<float>(parameters.scale), parameters.zero_point}};
  }

  BufferId add_caller(View view, size_t bytes) {
    CallerTensor caller{direction_, index_, {}};
    caller.in_view[static_cast<size_t>(view)] = true;
    return builder_.buffers().add_caller(caller, bytes, /*or_arena=*/false);
  }

  void connect_hw(BufferId own) {
    const BufferId view = add_caller(View::kHw, bytes());
    RequantiseStep::Side from = side(view, boundary_.hw->type, boundary_.quant);
    RequantiseStep::Side to = side(own, graph_view_.type, own_parameters());
    if (direction_ == Direction::kOutput) std::swap(from, to);
    builder_.add("Requantise", "millrace:vectors",
                 std::make_unique<RequantiseStep>(bytes(), from, to),
                 ViewCondition{direction_, index_, View::kHw}, boundary_.value);
  }

  Status connect_cpu(BufferId own) {
    auto conversion = tensor::Conversion::plan(boundary_.cpu, graph_view_, own_parameters());
    if (!conversion.ok()) return conversion.status();
    const BufferId view = add_caller(View::kCpu, boundary_.cpu.bytes());
    const Towards towards = direction_ == Direction::kInput ? Towards::kHw : Towards::kCpu;
    builder_.add("Convert", "millrace:conversion",
                 std::make_unique<ConversionStep>(*std::move(conversion), towards, view, own),
                 ViewCondition{direction_, index_, View::kCpu}, boundary_.value);
    return {};
  }

  Builder& builder_;
  const graph::Boundary& boundary_;
  const Direction direction_;
  const uint32_t index_;
  const graph::ValueId quantised_;
  TensorDesc graph_view_;
};

}  // namespace

bool can_requantise(const Builder& builder, const graph::Boundary& boundary,
                    graph::ValueId quantised) {
  if (!boundary.requantised || builder.is_empty(boundary.value)) return false;
  const auto desc =
      describe(*boundary.hw, builder.dims(boundary.value), builder.stored_type(quantised));
  // To an output, a reorder writes bytes of zero as the padding of the channels, which stand for
  // the number zero only if the zero point is 0. Inputs need no such reorder.
  return desc && (!has_padding(*desc) || builder.quantisation(quantised).zero_points[0] == 0 ||
                  builder.input_of(boundary.value));
}

Status bind_requantised(Builder& builder, uint32_t index, graph::ValueId quantised) {
  RequantisedBoundary boundary(builder, Direction::kInput, index, quantised);
  const Operand own{builder.buffers().add_arena(boundary.bytes()), *boundary.desc()};
  MILLRACE_RETURN_IF_ERROR(boundary.connect(own.buffer));
  builder.set_stored_result(quantised, own);
  return {};
}

namespace {

Status deliver_requantised(Builder& builder, uint32_t index, const Operand& bytes,
                           graph::ValueId quantised) {
  RequantisedBoundary boundary(builder, Direction::kOutput, index, quantised);
  const Desc desc = *boundary.desc();
  // The content of the padding is not known.
  if (bytes.desc == desc && !has_padding(desc) && builder.buffers().may_move(bytes.buffer) &&
      builder.buffers().bytes(bytes.buffer) == boundary.bytes())
    return boundary.connect(bytes.buffer);
  const Operand own{builder.buffers().add_arena(boundary.bytes()), desc};
  builder.add_reorder(quantised, bytes, own);
  return boundary.connect(own.buffer);
}

// Delivers the integers of a quantised value to an HW view that holds them in the layout `desc`.
Status deliver_bytes(Builder& builder, uint32_t index, const Operand& bytes, const Desc& desc) {
  BufferTable& buffers = builder.buffers();
  const CallerTensor caller = in_hw_view(Direction::kOutput, index);
  const graph::Boundary& boundary = builder.model().outputs[index];
  if (bytes.desc == desc && buffers.may_move(bytes.buffer) &&
      buffers.bytes(bytes.buffer) == boundary.hw->bytes()) {
    buffers.give_to_caller(bytes.buffer, caller, /*keep_arena=*/false);
    return {};
  }
  const BufferId buffer = buffers.add_caller(caller, boundary.hw->bytes(), /*or_arena=*/false);
  builder.add_reorder(boundary.value, bytes, {buffer, desc},
                      ViewCondition{Direction::kOutput, index, View::kHw});
  return {};
}

}  // namespace

Status deliver_output(Builder& builder, uint32_t index) {
  BoundaryTensor tensor(builder, Direction::kOutput, index);
  if (builder.is_empty(tensor.boundary().value)) return {};
  if (const auto quantised = builder.quantised_output(tensor.boundary().value)) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand bytes, builder.stored(*quantised));
    if (tensor.boundary().requantised)
      return deliver_requantised(builder, index, bytes, *quantised);
    return deliver_bytes(builder, index, bytes,
                         *desc_of_bytes(builder, tensor.boundary(), *quantised));
  }
  const graph::ValueId value = tensor.boundary().value;
  MILLRACE_ASSIGN_OR_RETURN(const Operand location,
                            builder.is_quantised(value)
                                ? builder.stored_in(value, builder.plain_stored_form(value))
                                : builder.current(value));
  BufferTable& buffers = builder.buffers();
  CallerTensor direct = tensor.views_lying_as(location.desc);
  if (buffers.may_move(location.buffer) &&
      buffers.bytes(location.buffer) == location.desc.get_size())
    buffers.give_to_caller(location.buffer, direct, !tensor.covers_all(direct));
  else
    direct.in_view = {};
  return tensor.connect(location, direct);
}

}  // namespace millrace::device::cpu
