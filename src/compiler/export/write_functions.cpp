// Writes elementwise functions (Unary, Binary, Cast, Requantise), Softmax and reductions. Functions
// that the opset lacks are composed of older operators.
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "compiler/export/operator_writers.h"

namespace millrace::compiler {
namespace {

using graph::Activation;
using graph::BinaryKind;
using graph::ReduceKind;
using graph::UnaryKind;

std::string scalar(ProtoModel& model, float number) {
  return model.floats({}, {number});
}

// Returns the name of a bound of Clip; empty, for no bound, if it exceeds all finite values.
std::string bound(ProtoModel& model, float number) {
  return std::fabs(number) >= std::numeric_limits<float>::max() ? "" : scalar(model, number);
}

std::string write_linear(ProtoModel& model, const Activation& function, std::string x) {
  if (function.alpha != 1 || function.beta == 0)
    x = model.add("Mul", {x, scalar(model, function.alpha)});
  if (function.beta != 0) x = model.add("Add", {x, scalar(model, function.beta)});
  return x;
}

// HardSwish and Gelu are composed, since they are operators of later opsets than most files have.
std::string write_hard_swish(ProtoModel& model, const std::string& x) {
  const std::string gate = model.add("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  return model.add("Mul", {x, gate});
}

std::string write_gelu(ProtoModel& model, const std::string& x) {
  const std::string ratio = model.add("Div", {x, scalar(model, std::numbers::sqrt2_v<float>)});
  const std::string error = model.add("Erf", {ratio});
  const std::string gate = model.add("Add", {error, scalar(model, 1)});
  const std::string product = model.add("Mul", {x, gate});
  return model.add("Mul", {product, scalar(model, 0.5f)});
}

// Returns the operator of the standard for a function without parameters.
const char* plain_function(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::kRelu:
      return "Relu";
    case UnaryKind::kSigmoid:
      return "Sigmoid";
    case UnaryKind::kTanh:
      return "Tanh";
    case UnaryKind::kExp:
      return "Exp";
    case UnaryKind::kLog:
      return "Log";
    case UnaryKind::kSqrt:
      return "Sqrt";
    case UnaryKind::kAbs:
      return "Abs";
    case UnaryKind::kNeg:
      return "Neg";
    case UnaryKind::kErf:
      return "Erf";
    case UnaryKind::kRound:
      return "Round";
    case UnaryKind::kFloor:
      return "Floor";
    case UnaryKind::kCeil:
      return "Ceil";
    case UnaryKind::kReciprocal:
      return "Reciprocal";
    case UnaryKind::kSoftplus:
      return "Softplus";
    default:
      return "Identity";
  }
}

const char* type_of(BinaryKind kind) {
  static constexpr const char* kTypes[graph::kBinaryKindCount] = {"Add", "Sub", "Mul", "Div",
                                                                  "Pow", "Min", "Max", "PRelu"};
  return kTypes[static_cast<size_t>(kind)];
}

const char* type_of(ReduceKind kind) {
  static constexpr const char* kTypes[graph::kReduceKindCount] = {
      "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"};
  return kTypes[static_cast<size_t>(kind)];
}

}  // namespace

std::string write_function(ProtoModel& model, const Activation& function, std::string x) {
  switch (function.kind) {
    case UnaryKind::kIdentity:
      return x;
    case UnaryKind::kClip:
      return model.add("Clip", {x, bound(model, function.alpha), bound(model, function.beta)});
    case UnaryKind::kLeakyRelu:
      return model.add("LeakyRelu", {x}, {{"alpha", function.alpha}});
    case UnaryKind::kElu:
      return model.add("Elu", {x}, {{"alpha", function.alpha}});
    case UnaryKind::kHardSigmoid:
      return model.add("HardSigmoid", {x}, {{"alpha", function.alpha}, {"beta", function.beta}});
    case UnaryKind::kHardSwish:
      return write_hard_swish(model, x);
    case UnaryKind::kSwish:
      return model.add("Mul", {x, model.add("Sigmoid", {x})});
    case UnaryKind::kGelu:
      return write_gelu(model, x);
    case UnaryKind::kPow:
      return model.add("Pow", {x, scalar(model, function.alpha)});
    case UnaryKind::kLinear:
      return write_linear(model, function, std::move(x));
    default:
      return model.add(plain_function(function.kind), {x});
  }
}

Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Unary& op) {
  const std::string x = model.numbers(node.input(0));
  if (op.function.kind == UnaryKind::kIdentity) return model.add("Identity", {x});
  return write_function(model, op.function, x);
}

Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Binary& op) {
  const std::string a = model.numbers(node.input(0));
  return model.add(type_of(op.kind), {a, model.numbers(node.input(1))});
}

Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Softmax& op) {
  return model.add(op.log ? "LogSoftmax" : "Softmax", {model.numbers(node.input(0))},
                   {{"axis", op.axis}});
}

// ReduceSum has its axes as an operand from opset 13 on, the other reductions from 18 on.
std::string write_reduction(ProtoModel& model, const graph::Reduce& op, const std::string& x) {
  const int64_t keep_dims = op.keep_dims ? 1 : 0;
  const int since = op.kind == ReduceKind::kSum ? 13 : 18;
  if (model.opset() >= since)
    return model.add(type_of(op.kind), {x, model.integers(op.axes)}, {{"keepdims", keep_dims}});
  return model.add(type_of(op.kind), {x}, {{"axes", op.axes}, {"keepdims", keep_dims}});
}

Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Reduce& op) {
  return write_reduction(model, op, model.numbers(node.input(0)));
}

Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Cast& op) {
  return model.add("Cast", {model.stored(node.input(0))}, {{"to", int64_t{element_number(op.to)}}});
}

// If the result is quantised, QuantizeLinear is added when it is stored.
Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Requantise&) {
  const graph::ValueId x = node.input(0);
  if (model.value(node.outputs[0]).quantisation) return model.numbers(x);
  if (model.value(x).quantisation) return model.dequantise(x);
  return model.add("Identity", {model.numbers(x)});
}

}  // namespace millrace::compiler
