// Quantisation to and from bytes, by the vector kernels of tensor conversion; and there and back,
// to integers of 8 or 16 bits.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/dynamic_rule.h"
#include "device/cpu/accelerated/integer_products.h"
#include "device/cpu/accelerated/vector_loops.h"
#include "device/cpu/builder/byte_conversion.h"
#include "device/cpu/builder/operands.h"
#include "fallback/axis.h"
#include "fallback/narrow_types.h"
#include "tensor/conversion/kernels.h"
#include "tensor/element.h"
#include "tensor/visit_element.h"

namespace millrace::device::cpu::accelerated {
namespace {

using fallback::AxisSplit;
using fallback::NodeView;
using fallback::TensorView;
using graph::ValueId;
using tensor::ContiguousKernel;
using tensor::DataType;
using tensor::ElementRule;

constexpr size_t kScale = 1, kZeroPoint = 2;

// The scale and the zero point of a node: one for all elements, or one per index of an axis.
struct Parameters {
  BufferId scale = 0;
  std::optional<BufferId> zero_point;
  bool scale_per_index = false, zero_point_per_index = false;

  ElementRule at(const RunState& state, const ByteConversion& conversion, size_t index) const {
    ElementRule rule;
    rule.scale = state.input<float>(scale)[scale_per_index ? index : 0];
    if (zero_point)
      rule.zero_point =
          conversion.number(state.input<std::byte>(*zero_point)[zero_point_per_index ? index : 0]);
    return rule;
  }
};

enum class Towards { kBytes, kFloats };

class LinearStep final : public Step {
 public:
  LinearStep(Towards towards, const ByteConversion& conversion, const AxisSplit& split,
             const Parameters& parameters, BufferId x, BufferId y)
      : towards_(towards),
        conversion_(conversion),
        split_(split),
        parameters_(parameters),
        x_(x),
        y_(y) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {x_, y_, parameters_.scale};
    if (parameters_.zero_point) ids.push_back(*parameters_.zero_point);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    size_t at = 0;
    for (size_t outer = 0; outer < split_.outer; ++outer)
      for (size_t i = 0; i < split_.size; ++i, at += split_.inner)
        convert(state, at, parameters_.at(state, conversion_, i));
    return {};
  }

 private:
  void convert(const RunState& state, size_t at, const ElementRule& rule) const {
    if (towards_ == Towards::kBytes)
      conversion_.quantise(state.input<float>(x_) + at, state.output<std::byte>(y_) + at,
                           split_.inner, rule);
    else
      conversion_.dequantise(state.input<std::byte>(x_) + at, state.output<float>(y_) + at,
                             split_.inner, rule);
  }

  const Towards towards_;
  const ByteConversion conversion_;
  const AxisSplit split_;
  const Parameters parameters_;
  const BufferId x_, y_;
};

// Rounds floating point elements to what integers can stand for, in any layout.
class RoundTripStep final : public Step {
 public:
  RoundTripStep(const QuantisedRange& range, const Operand& from, BufferId to)
      : range_(range),
        is_bf16_(from.desc.data_type() == ElementType::bf16),
        count_(from.desc.get_size() / dnnl::memory::data_type_size(from.desc.data_type())),
        from_(from.buffer),
        to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    if (is_bf16_)
      run_bf16(state.input<uint16_t>(from_), state.output<uint16_t>(to_));
    else
      fake_quantise(range_, {state.input<float>(from_), count_}, state.output<float>(to_));
    return {};
  }

 private:
  // Stays in the first cache.
  static constexpr size_t kPiece = 1024;

  void run_bf16(const uint16_t* from, uint16_t* to) const {
    std::array<float, kPiece> floats;
    for (size_t at = 0; at < count_; at += kPiece) {
      const size_t count = std::min(kPiece, count_ - at);
      widen_(from + at, floats.data(), count, {});
      fake_quantise(range_, {floats.data(), count}, floats.data());
      narrow_(floats.data(), to + at, count, {});
    }
  }

  const QuantisedRange range_;
  const bool is_bf16_;
  const size_t count_;
  const BufferId from_, to_;
  const ContiguousKernel widen_ = tensor::contiguous_kernel(DataType::kBf16, DataType::kFloat32);
  const ContiguousKernel narrow_ = tensor::contiguous_kernel(DataType::kFloat32, DataType::kBf16);
};

bool is_per_index(const NodeView& view, size_t index) {
  return view.has(index) && view.in(index).elements() > 1;
}

// The elements that share their parameters, in runs; none where these are too short for vectors, or
// belong to blocks.
std::optional<AxisSplit> split_of(const NodeView& view) {
  AxisSplit all(view.in(0).dims, 0);
  all.inner *= all.size;
  all.size = 1;
  if (!is_per_index(view, kScale) && !is_per_index(view, kZeroPoint)) return all;
  if (view.integer("block_size") != 0) return std::nullopt;
  constexpr size_t kShort = 16;
  const int64_t stated = view.integer("axis", 1);
  const bool is_vector = stated == 1 && view.in(0).rank() == 1;
  const auto axis = graph::normalise_axis(is_vector ? 0 : stated, view.in(0).rank());
  if (!axis.ok()) return std::nullopt;
  const AxisSplit split(view.in(0).dims, *axis);
  return split.inner < kShort ? std::nullopt : std::optional(split);
}

Result<bool> lower_linear(Builder& builder, const AcceleratedNode& node, Towards towards,
                          DataType byte_type) {
  const auto conversion = conversion_of(byte_type);
  const auto split = split_of(node.view);
  const bool has_scale_of_floats = node.view.in(kScale).type == DataType::kFloat32;
  if (!conversion || !split || !has_scale_of_floats) return false;
  Parameters parameters;
  parameters.scale_per_index = is_per_index(node.view, kScale);
  parameters.zero_point_per_index = is_per_index(node.view, kZeroPoint);
  MILLRACE_ASSIGN_OR_RETURN(const Operand x, plain_operand(builder, node.input(0)));
  MILLRACE_ASSIGN_OR_RETURN(const Operand scale, plain_operand(builder, node.input(kScale)));
  parameters.scale = scale.buffer;
  if (node.view.has(kZeroPoint)) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand zero, plain_operand(builder, node.input(kZeroPoint)));
    parameters.zero_point = zero.buffer;
  }
  const ValueId id = node.node.outputs[0];
  const Operand y = plain_result(builder, id);
  builder.add(
      name_of(node.node.op), "millrace:vectors",
      std::make_unique<LinearStep>(towards, *conversion, *split, parameters, x.buffer, y.buffer));
  finish_result(builder, id, y);
  return true;
}

// The elements of a constant; nothing for an operand that is absent.
std::span<const std::byte> constant_bytes(const Builder& builder, const graph::Node& node,
                                          size_t index) {
  const ValueId id = node.input(index);
  if (id == graph::kNoValue || !builder.is_constant(id)) return {};
  return builder.value(id).constant->bytes;
}

// Whether the node takes back what `quantize` does: it has the same constants as parameters.
bool is_inverse(const Builder& builder, const graph::Node& quantize, const graph::Node& node) {
  const auto* op = std::get_if<graph::Fallback>(&node.op);
  if (op == nullptr || op->name != "DequantizeLinear") return false;
  for (const size_t index : {kScale, kZeroPoint}) {
    const bool there = node.input(index) != graph::kNoValue;
    if (there != (quantize.input(index) != graph::kNoValue)) return false;
    if (!there) continue;
    const auto own = constant_bytes(builder, node, index);
    if (own.empty() || !std::ranges::equal(own, constant_bytes(builder, quantize, index)))
      return false;
  }
  return true;
}

// The range of integers of 8 or 16 bits. The zero point is 0 if `zero_point` is empty.
std::optional<QuantisedRange> range_of(DataType type, float scale,
                                       std::span<const std::byte> zero_point) {
  if (!std::isnormal(scale) || scale < 0) return std::nullopt;
  std::optional<QuantisedRange> range;
  static_cast<void>(tensor::visit_element(type, [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {
      if (!zero_point.empty()) std::memcpy(&zero, zero_point.data(), sizeof(T));
      const auto from_zero = [&](int number) { return static_cast<float>(number - zero); };
      range = {scale, from_zero(std::numeric_limits<T>::min()),
               from_zero(std::numeric_limits<T>::max()), from_zero(0)};
    }
    return {};
  }));
  return range;
}

// The range of a QuantizeLinear whose parameters are single constants.
std::optional<QuantisedRange> constant_range(const Builder& builder, const AcceleratedNode& node) {
  if (is_per_index(node.view, kScale) || is_per_index(node.view, kZeroPoint)) return std::nullopt;
  const auto scale = constant_bytes(builder, node.node, kScale);
  const auto zero_point = constant_bytes(builder, node.node, kZeroPoint);
  if (scale.size() != sizeof(float) || (node.view.has(kZeroPoint) && zero_point.empty()))
    return std::nullopt;
  float factor = 0;
  std::memcpy(&factor, scale.data(), sizeof(float));
  return range_of(builder.value(node.node.outputs[0]).type, factor, zero_point);
}

// If all readers of the integers dequantise them, they need not be stored: one step makes the
// results of the DequantizeLinear nodes, whose own lowering then finds them made.
Result<bool> lower_round_trip(Builder& builder, const AcceleratedNode& node) {
  const ValueId x = node.input(0), integers = node.node.outputs[0];
  if (builder.is_output(integers) || builder.readers(integers).empty()) return false;
  const auto range = constant_range(builder, node);
  if (!range) return false;
  std::vector<ValueId> results;
  for (const uint32_t reader : builder.readers(integers)) {
    const graph::Node& inverse = builder.model().graph.nodes[reader];
    if (!is_inverse(builder, node.node, inverse)) return false;
    results.push_back(inverse.outputs[0]);
  }
  MILLRACE_ASSIGN_OR_RETURN(Operand from, builder.current(x));
  if (!is_dense(from.desc)) {
    MILLRACE_ASSIGN_OR_RETURN(from, builder.plain(x));
  }
  const Operand to = builder.new_result_over(results[0], from.desc, x, from);
  for (size_t i = 1; i < results.size(); ++i) builder.set_result(results[i], to);
  builder.add(name_of(node.node.op), "millrace:vectors",
              std::make_unique<RoundTripStep>(*range, from, to.buffer));
  return true;
}

// The operand of a DynamicQuantizeLinear, and how its bytes shall lie: with channels last where the
// operand lies so and convolutions read the bytes.
struct DynamicForm {
  Operand x;
  Desc bytes;
};

Result<DynamicForm> dynamic_form(Builder& builder, const AcceleratedNode& node) {
  const ValueId bytes = node.node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder.current(node.input(0)));
  if (x.desc.data_type() == ElementType::f32 && !is_plain(x.desc)) {
    const auto layout = layout_of_readers(builder, bytes);
    if (layout) {
      MILLRACE_ASSIGN_OR_RETURN(
          const Operand moved,
          builder.in_layout(node.input(0), with_type(*layout, ElementType::f32)));
      return DynamicForm{moved, *layout};
    }
  }
  MILLRACE_ASSIGN_OR_RETURN(const Operand plain, plain_operand(builder, node.input(0)));
  return DynamicForm{plain, builder.plain_layout(bytes)};
}

// The range of the elements and 0, on 0 to 255.
class DynamicStep final : public Step {
 public:
  DynamicStep(size_t count, BufferId x, std::array<BufferId, 3> outputs)
      : count_(count), x_(x), outputs_(outputs) {}
  std::vector<BufferId> buffers() const override {
    return {x_, outputs_[0], outputs_[1], outputs_[2]};
  }
  Status run(const RunState& state) const noexcept override {
    const float* x = state.input<float>(x_);
    const ElementRule rule = dynamic_rule({x, count_});
    conversion_.quantise(x, state.output<std::byte>(outputs_[0]), count_, rule);
    *state.output<float>(outputs_[1]) = rule.scale;
    *state.output<uint8_t>(outputs_[2]) = static_cast<uint8_t>(rule.zero_point);
    return {};
  }

 private:
  const ByteConversion conversion_{DataType::kUint8};
  const size_t count_;
  const BufferId x_;
  const std::array<BufferId, 3> outputs_;
};

}  // namespace

Result<bool> lower_quantize(Builder& builder, const AcceleratedNode& node) {
  if (fallback::narrow_type(node.view.integer("output_dtype")) != nullptr) return false;
  MILLRACE_ASSIGN_OR_RETURN(const bool is_round_trip, lower_round_trip(builder, node));
  if (is_round_trip) return true;
  return lower_linear(builder, node, Towards::kBytes, builder.value(node.node.outputs[0]).type);
}

Result<bool> lower_dequantize(Builder& builder, const AcceleratedNode& node) {
  if (builder.is_made(node.node.outputs[0])) return true;
  return lower_linear(builder, node, Towards::kFloats, node.view.in(0).type);
}

Result<bool> lower_dynamic_quantize(Builder& builder, const AcceleratedNode& node) {
  MILLRACE_ASSIGN_OR_RETURN(const auto form, dynamic_form(builder, node));
  const Operand x = form.x;
  std::array<Operand, 3> outputs;
  std::array<BufferId, 3> buffers;
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = i == 0 ? result_as(builder, node.node.outputs[i], form.bytes)
                        : plain_result(builder, node.node.outputs[i]);
    buffers[i] = outputs[i].buffer;
  }
  builder.add(name_of(node.node.op), "millrace:vectors",
              std::make_unique<DynamicStep>(node.view.in(0).elements(), x.buffer, buffers));
  for (size_t i = 0; i < outputs.size(); ++i)
    finish_result(builder, node.node.outputs[i], outputs[i]);
  return true;
}

}  // namespace millrace::device::cpu::accelerated
