// Handlers of elementwise operators that need more than the choice of a UnaryKind or BinaryKind:
// those with attributes or optional operands (Clip, Gelu, Pow, Cast), and those that are composed
// of others (Mean, Selu, Mish).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fallback/narrow_types.h"
#include "lowering/operators/element_types.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::UnaryKind;

// Returns a bound of Clip: `absent` if the operand is left out, nothing unless it is a constant
// FLOAT32 scalar that is not NaN.
std::optional<float> float_bound(const NodeImport& node, size_t index, float absent) {
  if (!node.has(index)) return absent;
  if (node.value(index).type != tensor::DataType::kFloat32 || !node.is_constant(index)) {
    return std::nullopt;
  }
  const Result<float> bound = node.constant_float(index);
  return bound.ok() && !std::isnan(*bound) ? std::optional(*bound) : std::nullopt;
}

Result<ValueId> clip_between(NodeImport& node, float low, float high) {
  low = std::min(low, high);  // ONNX applies the upper bound last
  if (low == 0 && high == std::numeric_limits<float>::max()) {
    return node.unary(UnaryKind::kRelu, node.operand(0));
  }
  return node.unary(UnaryKind::kClip, node.operand(0), low, high);
}

// Pow of an integer base with a floating-point exponent: computed in FLOAT32, and cast to the type
// of the base.
Result<ValueId> integer_to_fraction(NodeImport& node) {
  using tensor::DataType;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId base,
                            node.emit(graph::Cast{DataType::kFloat32}, {node.operand(0)}));
  ValueId exponent = node.operand(1);
  if (node.value(1).type != DataType::kFloat32) {
    MILLRACE_ASSIGN_OR_RETURN(exponent, node.emit(graph::Cast{DataType::kFloat32}, {exponent}));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId power, node.binary(BinaryKind::kPow, base, exponent));
  return node.emit(graph::Cast{node.value(0).type}, {power});
}

}  // namespace

Result<ValueId> import_mean(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId sum, import_chain<BinaryKind::kAdd>(node));
  if (node.operand_count() == 1) return sum;
  return node.unary(UnaryKind::kLinear, sum, 1.0f / static_cast<float>(node.operand_count()));
}

Result<ValueId> import_identity(NodeImport& node) {
  return node.operand(0);
}

Result<ValueId> import_dropout(NodeImport& node) {
  if (node.has(2)) {
    MILLRACE_ASSIGN_OR_RETURN(const float training, node.constant_float(2));
    if (training != 0) return unsupported("training_mode is set");
  }
  return node.operand(0);
}

Result<ValueId> import_clip(NodeImport& node) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  constexpr float kHighest = std::numeric_limits<float>::max();
  if (node.opset() < 11) {
    return clip_between(node, node.float_attribute("min", kLowest),
                        node.float_attribute("max", kHighest));
  }
  const auto low = float_bound(node, 1, kLowest);
  const auto high = float_bound(node, 2, kHighest);
  if (node.value(0).type == tensor::DataType::kFloat32 && low && high) {
    return clip_between(node, *low, *high);
  }
  ValueId x = node.operand(0);
  if (node.has(1)) {
    MILLRACE_ASSIGN_OR_RETURN(x, node.binary(BinaryKind::kMax, x, node.operand(1)));
  }
  if (node.has(2)) {
    MILLRACE_ASSIGN_OR_RETURN(x, node.binary(BinaryKind::kMin, x, node.operand(2)));
  }
  return x;
}

Result<ValueId> import_leaky_relu(NodeImport& node) {
  return node.unary(UnaryKind::kLeakyRelu, node.operand(0), node.float_attribute("alpha", 0.01f));
}

Result<ValueId> import_elu(NodeImport& node) {
  return node.unary(UnaryKind::kElu, node.operand(0), node.float_attribute("alpha", 1));
}

Result<ValueId> import_selu(NodeImport& node) {
  const float alpha = node.float_attribute("alpha", 1.67326319217681884765625f);
  const float gamma = node.float_attribute("gamma", 1.05070102214813232421875f);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId elu, node.unary(UnaryKind::kElu, node.operand(0), alpha));
  return node.unary(UnaryKind::kLinear, elu, gamma);
}

Result<ValueId> import_hard_sigmoid(NodeImport& node) {
  return node.unary(UnaryKind::kHardSigmoid, node.operand(0), node.float_attribute("alpha", 0.2f),
                    node.float_attribute("beta", 0.5f));
}

Result<ValueId> import_hard_swish(NodeImport& node) {
  return node.unary(UnaryKind::kHardSwish, node.operand(0));
}

Result<ValueId> import_mish(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId plus, node.unary(UnaryKind::kSoftplus, node.operand(0)));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId gate, node.unary(UnaryKind::kTanh, plus));
  return node.binary(BinaryKind::kMul, node.operand(0), gate);
}

Result<ValueId> import_gelu(NodeImport& node) {
  const std::string approximate = node.string_attribute("approximate", "none");
  if (approximate != "none") {
    return unsupported(fmt::format("approximate is '{}'", approximate));
  }
  return node.unary(UnaryKind::kGelu, node.operand(0));
}

// x * sigmoid(alpha * x).
Result<ValueId> import_swish(NodeImport& node) {
  const float alpha = node.float_attribute("alpha", 1);
  const ValueId x = node.operand(0);
  if (alpha == 1) return node.unary(UnaryKind::kSwish, x);
  MILLRACE_ASSIGN_OR_RETURN(const ValueId scaled, node.unary(UnaryKind::kLinear, x, alpha));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId gate, node.unary(UnaryKind::kSigmoid, scaled));
  return node.binary(BinaryKind::kMul, x, gate);
}

Result<ValueId> import_pow(NodeImport& node) {
  ValueId exponent = node.operand(1);
  if (tensor::is_integer(node.value(0).type) && !tensor::is_integer(node.value(1).type)) {
    return integer_to_fraction(node);
  }
  const bool is_float = node.value(0).type == tensor::DataType::kFloat32;
  if (is_float && node.is_constant(1) && node.value(1).elements() == 1 &&
      node.shape(1).size() <= node.shape(0).size()) {
    MILLRACE_ASSIGN_OR_RETURN(const float power, node.constant_float(1));
    return node.unary(UnaryKind::kPow, node.operand(0), power);
  }
  if (node.value(0).type != node.value(1).type) {
    MILLRACE_ASSIGN_OR_RETURN(exponent, node.emit(graph::Cast{node.value(0).type}, {exponent}));
  }
  return node.binary(BinaryKind::kPow, node.operand(0), exponent);
}

Result<ValueId> import_cast(NodeImport& node) {
  const int64_t to = node.int_attribute("to", 0);
  if (fallback::narrow_type(to) != nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(
        const auto y,
        node.emit_fallback(
            {"millrace.NarrowCast", {{"saturate", node.int_attribute("saturate", 1)}, {"to", to}}},
            {node.operand(0)}, 1));
    return y[0];
  }
  MILLRACE_ASSIGN_OR_RETURN(const tensor::DataType type, stored_type(to));
  if (type == node.value(0).type) return node.operand(0);
  return node.emit(graph::Cast{type}, {node.operand(0)});
}

}  // namespace millrace::lowering
