// Arithmetic on quantised tensors, of the domain com.microsoft: QLinearAdd, QLinearConcat,
// QLinearGlobalAveragePool, QLinearLeakyRelu, QLinearMul, QLinearSigmoid. Operands and result are
// INT8 or UINT8, each with its own scale and zero point. Bytes are dequantised by a table of 256
// values, the operator is computed in floating point, and the result is quantised.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "fallback/axis.h"
#include "fallback/broadcast.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "tensor/element.h"

namespace millrace::fallback {
namespace {

// Checks a scale and the zero point after it, of type `type`; an absent zero point is 0.
Status check_parameters(const NodeView& node, size_t scale, DataType type) {
  if (!node.has(scale) || node.in(scale).type != DataType::kFloat32 ||
      node.in(scale).elements() != 1)
    return invalid_argument(fmt::format("input {} must be one FLOAT32", scale));
  const size_t zero = scale + 1;
  if (!node.has(zero)) return {};
  if (node.in(zero).type == type && node.in(zero).elements() == 1) return {};
  return invalid_argument(fmt::format("input {} must be one {}", zero, tensor::to_string(type)));
}

float scale_at(const NodeView& node, size_t index) {
  return node.in(index).as<float>()[0];
}

int32_t zero_at(const NodeView& node, size_t index, DataType type) {
  if (!node.has(index)) return 0;
  return type == DataType::kInt8 ? node.in(index).as<int8_t>()[0] : node.in(index).as<uint8_t>()[0];
}

// A table of the real values that the 256 bytes represent.
class Dequantiser {
 public:
  Dequantiser(const NodeView& node, size_t scale, DataType type)
      : Dequantiser(scale_at(node, scale), zero_at(node, scale + 1, type), type) {}

  float operator()(uint8_t byte) const { return values_[byte]; }

 private:
  Dequantiser(float scale, int32_t zero, DataType type) {
    for (size_t byte = 0; byte < values_.size(); ++byte) {
      const auto bits = static_cast<uint8_t>(byte);
      const int32_t q = type == DataType::kInt8 ? static_cast<int8_t>(bits) : bits;
      values_[byte] = static_cast<float>(q - zero) * scale;
    }
  }

  std::array<float, 256> values_{};
};

class Quantiser {
 public:
  Quantiser(const NodeView& node, size_t scale, DataType type)
      : rule_{scale_at(node, scale), zero_at(node, scale + 1, type), false},
        is_signed_(type == DataType::kInt8) {}

  uint8_t operator()(float value) const {
    return is_signed_ ? static_cast<uint8_t>(tensor::quantise<int8_t>(value, rule_))
                      : tensor::quantise<uint8_t>(value, rule_);
  }

 private:
  tensor::ElementRule rule_;
  bool is_signed_;
};

// Inputs: a and its scale and zero point, b and its scale and zero point, scale and zero point of
// the result.
constexpr size_t kA = 0, kB = 3, kResult = 6;

Status shape_of_binary(Inference& node) {
  const DataType type = node.in(kA).type;
  if (!node.has(kB) || node.in(kB).type != type)
    return invalid_argument("it needs two operands of the same type");
  for (const size_t scale : {kA + 1, kB + 1, kResult})
    MILLRACE_RETURN_IF_ERROR(check_parameters(node, scale, type));
  MILLRACE_ASSIGN_OR_RETURN(Dims dims,
                            graph::broadcast(to_dims(node.in(kA).dims), to_dims(node.in(kB).dims)));
  node.set(0, type, std::move(dims));
  return {};
}

template <class Function>
Status binary(const Call& call) {
  const DataType type = call.in(kA).type;
  const Dequantiser a(call, kA + 1, type), b(call, kB + 1, type);
  const Quantiser result(call, kResult, type);
  apply_broadcast<uint8_t, uint8_t>(
      call.in(kA), call.in(kB), call.out(0).dims, call.out(0).as<uint8_t>().data(),
      [&](uint8_t x, uint8_t y) { return result(Function{}(a(x), b(y))); });
  return {};
}

// Inputs: x and its scale and zero point, scale and zero point of the result.
constexpr size_t kY = 3;

Status shape_of_unary(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, 1, node.in(0).type));
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, kY, node.in(0).type));
  return same_as_first(node);
}

template <class Function>
Status unary(const Call& call, Function&& f) {
  const DataType type = call.in(0).type;
  const Dequantiser x(call, 1, type);
  const Quantiser y(call, kY, type);
  std::ranges::transform(call.in(0).as<uint8_t>(), call.out(0).as<uint8_t>().begin(),
                         [&](uint8_t byte) { return y(f(x(byte))); });
  return {};
}

Status sigmoid(const Call& call) {
  return unary(call, [](float x) { return reference::sigmoid(x); });
}

Status leaky_relu(const Call& call) {
  const float alpha = call.real("alpha", 0.01f);
  return unary(call, [alpha](float x) { return reference::leaky_relu(x, alpha); });
}

// Channels are dimension 1, or the last one with channels_last.
Status shape_of_global_average(Inference& node) {
  const TensorView& x = node.in(0);
  if (x.rank() < 3) return invalid_argument("its input has no spatial dimensions");
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, 1, x.type));
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, kY, x.type));
  Dims dims = to_dims(x.dims);
  const bool last = node.integer("channels_last") != 0;
  std::fill(dims.begin() + (last ? 1 : 2), dims.end() - (last ? 1 : 0), 1);
  node.set(0, x.type, std::move(dims));
  return {};
}

Status global_average(const Call& call) {
  const TensorView& x = call.in(0);
  const bool last = call.integer("channels_last") != 0;
  const size_t channels = static_cast<size_t>(last ? x.dims.back() : x.dims[1]);
  const size_t images = static_cast<size_t>(x.dims[0]);
  const size_t pixels = channels * images == 0 ? 0 : x.elements() / (channels * images);
  const Dequantiser value(call, 1, x.type);
  const Quantiser result(call, kY, x.type);
  const auto from = x.as<uint8_t>();
  const auto to = call.out(0).as<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t image = i / channels, channel = i % channels;
    double sum = 0;
    for (size_t p = 0; p < pixels; ++p)
      sum += value(from[last ? (image * pixels + p) * channels + channel : i * pixels + p]);
    to[i] = result(static_cast<float>(sum / static_cast<double>(pixels)));
  }
  return {};
}

// Inputs: scale and zero point of the result, then three per part: the part and its scale and zero
// point.
Status shape_of_concat(Inference& node) {
  if (node.input_count() < 5 || (node.input_count() - 2) % 3 != 0)
    return invalid_argument("inputs must be a scale, a zero point, and three for each part");
  const DataType type = node.in(2).type;
  if (!kBytes.contains(type)) return unsupported("the parts must be INT8 or UINT8");
  MILLRACE_RETURN_IF_ERROR(check_parameters(node, 0, type));
  Dims dims = to_dims(node.in(2).dims);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis"), dims.size()));
  for (size_t part = 2; part < node.input_count(); part += 3) {
    MILLRACE_RETURN_IF_ERROR(check_parameters(node, part + 1, type));
    Dims own = to_dims(node.in(part).dims);
    if (node.in(part).type != type || own.size() != dims.size())
      return invalid_argument("the parts differ in type or rank");
    if (part > 2) dims[axis] += own[axis];
    own[axis] = dims[axis];
    if (own != dims) return invalid_argument("the parts do not fit each other");
  }
  node.set(0, type, std::move(dims));
  return {};
}

Status concat(const Call& call) {
  const DataType type = call.out(0).type;
  const auto to = call.out(0).as<uint8_t>();
  const size_t axis = *graph::normalise_axis(call.integer("axis"), call.out(0).dims.size());
  const AxisSplit whole(call.out(0).dims, axis);
  const Quantiser result(call, 0, type);
  size_t begin = 0;
  for (size_t part = 2; part < call.input_count(); part += 3) {
    const Dequantiser value(call, part + 1, type);
    const AxisSplit split(call.in(part).dims, axis);
    const size_t row = split.size * split.inner;
    const auto from = call.in(part).as<uint8_t>();
    for (size_t i = 0; i < from.size(); ++i)
      to[i / row * whole.size * whole.inner + begin * whole.inner + i % row] =
          result(value(from[i]));
    begin += split.size;
  }
  return {};
}

constexpr AttributeSpec kAlpha[] = {{"alpha", AttributeKind::kFloat}};
constexpr AttributeSpec kAxis[] = {{"axis", AttributeKind::kInteger}};
constexpr AttributeSpec kChannelsLast[] = {{"channels_last", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> qlinear_operators() noexcept {
  // Only the first operand is declared as required, since zero points of all operators but Concat
  // may be left out. The shape functions check the other operands.
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.QLinearAdd", 1, {1, 8}, {}, kBytes, shape_of_binary, binary<std::plus<>>},
      {"com.microsoft.QLinearConcat",
       1,
       {5, kAnyNumber},
       {},
       kFloats,
       shape_of_concat,
       concat,
       kAxis},
      {"com.microsoft.QLinearGlobalAveragePool",
       1,
       {1, 5},
       {},
       kBytes,
       shape_of_global_average,
       global_average,
       kChannelsLast},
      {"com.microsoft.QLinearLeakyRelu", 1, {1, 5}, {}, kBytes, shape_of_unary, leaky_relu, kAlpha},
      {"com.microsoft.QLinearMul",
       1,
       {1, 8},
       {},
       kBytes,
       shape_of_binary,
       binary<std::multiplies<>>},
      {"com.microsoft.QLinearSigmoid", 1, {1, 5}, {}, kBytes, shape_of_unary, sigmoid},
  };
  return kOperators;
}

}  // namespace millrace::fallback
