// Helpers that the shape functions share: checks of operands, attributes and sizes, and one
// overload of infer() per operator. The checks return kInvalidArgument; `what` names the operand in
// the message. Private to src/graph.
#pragma once

#include <fmt/format.h>

#include <string>

#include "graph/shape.h"

namespace millrace::graph {

using Operands = std::span<const Value* const>;

#define MILLRACE_X(Op) Result<ValueType> infer(const Op& op, Operands inputs);
MILLRACE_GRAPH_OPERATORS(MILLRACE_X)
#undef MILLRACE_X

// Checks that there are `required` to `allowed` operands, and that the required ones are present.
Status check_operand_count(Operands inputs, size_t required, size_t allowed);
// Returns the operand at `index`, or null if it is absent.
inline const Value* operand(Operands inputs, size_t index) {
  return index < inputs.size() ? inputs[index] : nullptr;
}

Status check_floating(const char* what, const Value& value);
// Checks that the type is not BOOLEAN.
Status check_numeric(const char* what, const Value& value);
Status check_shape_is(const char* what, const Value& value, const Dims& expected);
Status check_axis(int64_t axis, size_t rank);
Status check_activation(const Activation& activation);
// Checks that there are exactly `count` entries, each of them in [low, high].
Status check_attribute(const char* name, const Dims& entries, size_t count, int64_t low,
                       int64_t high);

// The largest magnitude of an attribute. A larger one than any dimension has no meaning, and below
// this bound sums and products of two cannot overflow.
inline constexpr int64_t kMaxAttribute = int64_t{1} << 31;

// A window of `kernel` taps, `dilation` apart, that slides over one padded dimension.
struct Window {
  int64_t input = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};
// Returns the number of positions of a window. kInvalidArgument if its extent exceeds the padded
// input. Requirement: all members are within kMaxAttribute.
Result<int64_t> window_positions(const Window& window);

}  // namespace millrace::graph
