// Shape functions of the operators that move data: Concat, Reshape, Transpose, Slice, Gather, Pad,
// Resize, Expand. They also refuse attributes with which a kernel would access memory outside of
// its operands.
#include <algorithm>
#include <cmath>

#include "graph/shape/check.h"

namespace millrace::graph {
namespace {

int64_t elements_of(const Dims& shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

// Checks that begin + i * step stays within [0, dim) for all i < size.
Status check_slice_dimension(int64_t dim, int64_t begin, int64_t size, int64_t step) {
  if (size == 0 && begin >= 0 && begin <= dim && step != 0) return {};
  if (begin >= 0 && begin < dim && size >= 1 && step != 0) {
    // The number of steps from `begin` to the edge. (size - 1) * step might overflow.
    const int64_t possible = step > 0 ? (dim - 1 - begin) / step : -(begin / step);
    if (size - 1 <= possible) return {};
  }
  return invalid_argument(
      fmt::format("begin {}, size {}, step {} leave a dimension of {}", begin, size, step, dim));
}

// Returns the size of a padded dimension. Reflection and edge padding need elements to repeat.
Result<int64_t> padded_dimension(PadMode mode, int64_t dim, int64_t begin, int64_t end) {
  const int64_t left_over = dim + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
  if (left_over < 0) {
    return invalid_argument(
        fmt::format("padding of {} and {} crops more than the dimension of {}", begin, end, dim));
  }
  const bool grows = begin > 0 || end > 0;
  if (mode != PadMode::kConstant && grows && left_over == 0) {
    return invalid_argument(
        fmt::format("padding of {} and {} repeats elements, which a dimension of {} does not have",
                    begin, end, dim));
  }
  if (mode == PadMode::kReflect && grows && (begin >= dim || end >= dim)) {
    return invalid_argument(
        fmt::format("reflected padding of {} and {} exceeds a dimension of {}", begin, end, dim));
  }
  return dim + begin + end;
}

// Kernels map output positions to input positions by `scale`; a scale that does not match the two
// sizes would make them read outside of the input. The tolerance covers scales that were rounded to
// float, and sizes that were rounded down.
Status check_scale(int64_t input, int64_t output, float scale) {
  const double expected = static_cast<double>(output);
  const double scaled = static_cast<double>(input) * static_cast<double>(scale);
  if (std::isfinite(scaled) && scaled >= 0.5 * expected && scaled <= 1.001 * expected + 1) {
    return {};
  }
  return invalid_argument(
      fmt::format("scale {} does not turn a dimension of {} into {}", scale, input, output));
}

Status check_resize_modes(const Resize& op) {
  const bool known = op.mode <= ResizeMode::kLinear &&
                     op.coordinates <= CoordinateMode::kAlignCorners &&
                     op.nearest <= NearestMode::kRoundPreferCeil;
  return known ? Status() : invalid_argument("unknown mode");
}

Status check_concat_operand(const Value* value, const Value& first, int64_t axis) {
  if (value == nullptr) return invalid_argument("an input is absent");
  if (value->type != first.type) return invalid_argument("inputs differ in type");
  Dims expected = first.shape;
  if (value->shape.size() == expected.size()) expected[axis] = value->shape[axis];
  return check_shape_is("an input", *value, expected);
}

}  // namespace

Result<ValueType> infer(const Concat& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, inputs.size()));
  const Value& first = *inputs[0];
  MILLRACE_RETURN_IF_ERROR(check_axis(op.axis, first.shape.size()));
  ValueType output{first.type, first.shape};
  for (const Value* value : inputs.subspan(1)) {
    MILLRACE_RETURN_IF_ERROR(check_concat_operand(value, first, op.axis));
    output.shape[op.axis] += value->shape[op.axis];
    MILLRACE_RETURN_IF_ERROR(check_shape(output.shape));
  }
  return output;
}

Result<ValueType> infer(const Reshape& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  MILLRACE_RETURN_IF_ERROR(check_shape(op.shape));
  if (elements_of(op.shape) != elements_of(inputs[0]->shape)) {
    return invalid_argument(fmt::format("{} has not as many elements as {}", to_string(op.shape),
                                        to_string(inputs[0]->shape)));
  }
  return ValueType{inputs[0]->type, op.shape};
}

Result<ValueType> infer(const Transpose& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  const Dims& shape = inputs[0]->shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  MILLRACE_RETURN_IF_ERROR(
      check_attribute("permutation", op.permutation, shape.size(), 0, rank - 1));
  Dims output(shape.size(), 0);
  std::vector<bool> seen(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t from = op.permutation[i];
    if (seen[from]) {
      return invalid_argument(fmt::format("{} is no permutation", to_string(op.permutation)));
    }
    seen[from] = true;
    output[i] = shape[from];
  }
  return ValueType{inputs[0]->type, std::move(output)};
}

Result<ValueType> infer(const Slice& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  const Dims& shape = inputs[0]->shape;
  if (op.begin.size() != shape.size() || op.size.size() != shape.size() ||
      op.step.size() != shape.size()) {
    return invalid_argument("begin, size and step need one entry per dimension");
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(check_slice_dimension(shape[i], op.begin[i], op.size[i], op.step[i]));
  }
  return ValueType{inputs[0]->type, op.size};
}

Result<ValueType> infer(const Gather& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 2, 2));
  const Value &data = *inputs[0], &indices = *inputs[1];
  MILLRACE_RETURN_IF_ERROR(check_axis(op.axis, data.shape.size()));
  if (!tensor::is_integer(indices.type)) return invalid_argument("indices are not integers");
  Dims shape(data.shape.begin(), data.shape.begin() + op.axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + op.axis + 1, data.shape.end());
  return ValueType{data.type, std::move(shape)};
}

Result<ValueType> infer(const Pad& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  if (op.mode > PadMode::kEdge) return invalid_argument("unknown mode");
  Dims shape = inputs[0]->shape;
  MILLRACE_RETURN_IF_ERROR(
      check_attribute("begin", op.begin, shape.size(), -kMaxAttribute, kMaxAttribute));
  MILLRACE_RETURN_IF_ERROR(
      check_attribute("end", op.end, shape.size(), -kMaxAttribute, kMaxAttribute));
  for (size_t i = 0; i < shape.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(shape[i],
                              padded_dimension(op.mode, shape[i], op.begin[i], op.end[i]));
  }
  return ValueType{inputs[0]->type, std::move(shape)};
}

Result<ValueType> infer(const Resize& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  MILLRACE_RETURN_IF_ERROR(check_resize_modes(op));
  MILLRACE_RETURN_IF_ERROR(check_shape(op.shape));
  const Dims& shape = inputs[0]->shape;
  if (op.shape.size() != shape.size() || op.scales.size() != shape.size()) {
    return invalid_argument("shape and scales need one entry per dimension");
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(check_scale(shape[i], op.shape[i], op.scales[i]));
  }
  return ValueType{inputs[0]->type, op.shape};
}

Result<ValueType> infer(const Expand& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  MILLRACE_RETURN_IF_ERROR(check_shape(op.shape));
  MILLRACE_ASSIGN_OR_RETURN(const Dims shape, broadcast(inputs[0]->shape, op.shape));
  if (shape != op.shape) {
    return invalid_argument(fmt::format("{} does not broadcast to {}", to_string(inputs[0]->shape),
                                        to_string(op.shape)));
  }
  return ValueType{inputs[0]->type, op.shape};
}

}  // namespace millrace::graph
