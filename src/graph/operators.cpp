#include "graph/operators.h"

#include <array>

namespace millrace::graph {
namespace {

// In the order of Operator's alternatives.
constexpr std::array<const char*, std::variant_size_v<Operator>> kOperatorNames = {
    "Conv",    "Pool",   "GlobalPool", "MatMul",    "Unary",    "Binary",    "BatchNormalization",
    "Softmax", "Concat", "Reshape",    "Transpose", "Slice",    "Gather",    "Pad",
    "Resize",  "Reduce", "Cast",       "Expand",    "Fallback", "Requantise"};

constexpr std::array<const char*, kUnaryKindCount> kUnaryNames = {
    "Identity",  "Relu",  "Clip",  "LeakyRelu", "Elu",        "Sigmoid",  "Tanh", "HardSigmoid",
    "HardSwish", "Swish", "Gelu",  "Exp",       "Log",        "Sqrt",     "Abs",  "Neg",
    "Erf",       "Round", "Floor", "Ceil",      "Reciprocal", "Softplus", "Pow",  "Linear"};

constexpr std::array<const char*, kBinaryKindCount> kBinaryNames = {"Add", "Sub", "Mul", "Div",
                                                                    "Pow", "Min", "Max", "Prelu"};

}  // namespace

const char* name_of(const Operator& op) noexcept {
  if (const auto* fallback = std::get_if<Fallback>(&op)) return fallback->name.c_str();
  return op.valueless_by_exception() ? "?" : kOperatorNames[op.index()];
}

const char* name_of(UnaryKind kind) noexcept {
  const auto index = static_cast<size_t>(kind);
  return index < kUnaryNames.size() ? kUnaryNames[index] : "?";
}

const char* name_of(BinaryKind kind) noexcept {
  const auto index = static_cast<size_t>(kind);
  return index < kBinaryNames.size() ? kBinaryNames[index] : "?";
}

}  // namespace millrace::graph
