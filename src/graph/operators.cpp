#include "graph/operators.h"

#include <array>

namespace millrace::graph {
namespace {

// In the order of Operator's alternatives.
constexpr const char* kOperatorNames[] = {
#define MILLRACE_X(Op) #Op,
    MILLRACE_GRAPH_OPERATORS(MILLRACE_X)
#undef MILLRACE_X
};

// Returns the name of an enumerator; "?" if there is none of its number.
template <size_t count, class Enumerator>
const char* name_in(const std::array<const char*, count>& names, Enumerator enumerator) {
  const auto index = static_cast<size_t>(enumerator);
  return index < count ? names[index] : "?";
}

constexpr std::array<const char*, kUnaryKindCount> kUnaryNames = {
    "Identity",  "Relu",  "Clip",  "LeakyRelu", "Elu",        "Sigmoid",  "Tanh", "HardSigmoid",
    "HardSwish", "Swish", "Gelu",  "Exp",       "Log",        "Sqrt",     "Abs",  "Neg",
    "Erf",       "Round", "Floor", "Ceil",      "Reciprocal", "Softplus", "Pow",  "Linear"};

constexpr std::array<const char*, kBinaryKindCount> kBinaryNames = {"Add", "Sub", "Mul", "Div",
                                                                    "Pow", "Min", "Max", "Prelu"};

constexpr std::array<const char*, kReduceKindCount> kReduceNames = {"Sum", "Mean", "Max", "Min",
                                                                    "Prod"};

constexpr std::array kPoolNames = {"Max", "Average"};

// Modes have the names of the ONNX standard.
constexpr std::array kPadNames = {"constant", "reflect", "edge"};
constexpr std::array kResizeNames = {"nearest", "linear"};
constexpr std::array kCoordinateNames = {"asymmetric", "half_pixel", "pytorch_half_pixel",
                                         "align_corners"};
constexpr std::array kNearestNames = {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"};

}  // namespace

const char* name_of(const Operator& op) noexcept {
  if (const auto* fallback = std::get_if<Fallback>(&op)) return fallback->name.c_str();
  return op.valueless_by_exception() ? "?" : kOperatorNames[op.index()];
}

const char* name_of(UnaryKind kind) noexcept {
  return name_in(kUnaryNames, kind);
}

const char* name_of(BinaryKind kind) noexcept {
  return name_in(kBinaryNames, kind);
}

const char* name_of(ReduceKind kind) noexcept {
  return name_in(kReduceNames, kind);
}

const char* name_of(PoolKind kind) noexcept {
  return name_in(kPoolNames, kind);
}

const char* name_of(PadMode mode) noexcept {
  return name_in(kPadNames, mode);
}

const char* name_of(ResizeMode mode) noexcept {
  return name_in(kResizeNames, mode);
}

const char* name_of(CoordinateMode mode) noexcept {
  return name_in(kCoordinateNames, mode);
}

const char* name_of(NearestMode mode) noexcept {
  return name_in(kNearestNames, mode);
}

}  // namespace millrace::graph
