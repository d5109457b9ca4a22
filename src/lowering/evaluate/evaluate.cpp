// Dispatches an operator to its function, and implements the operators that move data. These
// compute a table of IndexOffsets, and copy elements by size, whatever their type. Arithmetic is in
// evaluate_math.cpp and evaluate_matmul.cpp.
#include "lowering/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "fallback/element.h"
#include "graph/reference/functions.h"
#include "graph/reference/index_offsets.h"
#include "graph/shape.h"
#include "lowering/evaluate/constant_data.h"
#include "lowering/evaluate/evaluate_math.h"

namespace millrace::lowering {
namespace {

using graph::Value;
using graph::reference::dense_strides;
using graph::reference::IndexOffsets;
using graph::reference::kFill;
using Operands = std::span<const Value* const>;

// Elements of the output that are marked kFill keep their bytes.
Status move_elements(const Value& input, const IndexOffsets& offsets,
                     const MutableConstant& output) {
  return fallback::visit_storage(input.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    graph::reference::copy_by_offsets(offsets, input.constant->as<T>().data(),
                                      output.as<T>().data());
    return {};
  });
}

// Returns the offsets of one dimension, in which index i of the output reads index source(i) of the
// input.
template <class Source>
std::vector<int64_t> dimension_offsets(int64_t size, int64_t stride, Source&& source) {
  std::vector<int64_t> offsets(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) offsets[static_cast<size_t>(i)] = source(i) * stride;
  return offsets;
}

Status reshape(Operands in, const MutableConstant& out) {
  std::memcpy(out.data, in[0]->constant->bytes.data(), in[0]->constant->bytes.size());
  return {};
}

Status transpose(const graph::Transpose& op, Operands in, const MutableConstant& out) {
  const graph::Dims strides = dense_strides(in[0]->shape);
  IndexOffsets offsets;
  for (const int64_t source : op.permutation) {
    offsets.push_back(
        dimension_offsets(in[0]->shape[source], strides[source], [](int64_t i) { return i; }));
  }
  return move_elements(*in[0], offsets, out);
}

Status slice(const graph::Slice& op, Operands in, const MutableConstant& out) {
  const graph::Dims strides = dense_strides(in[0]->shape);
  IndexOffsets offsets;
  for (size_t d = 0; d < strides.size(); ++d) {
    offsets.push_back(dimension_offsets(op.size[d], strides[d],
                                        [&](int64_t i) { return op.begin[d] + i * op.step[d]; }));
  }
  return move_elements(*in[0], offsets, out);
}

Status expand(Operands in, const MutableConstant& out) {
  return move_elements(*in[0], graph::reference::broadcast_offsets(in[0]->shape, out.value.shape),
                       out);
}

Status concat(const graph::Concat& op, Operands in, const MutableConstant& out) {
  const auto axis = static_cast<size_t>(op.axis);
  const graph::Dims& shape = out.value.shape;
  const int64_t rows = *checked_product(std::span(shape).first(axis));
  std::byte* to = out.data;
  for (int64_t row = 0; row < rows; ++row) {
    for (const Value* input : in) {
      if (input->elements() == 0) continue;
      const size_t bytes = input->bytes() / static_cast<size_t>(rows);
      std::memcpy(to, input->constant->bytes.data() + static_cast<size_t>(row) * bytes, bytes);
      to += bytes;
    }
  }
  return {};
}

Result<std::vector<int64_t>> gather_indices(const Value& indices, int64_t limit) {
  std::vector<int64_t> result;
  MILLRACE_RETURN_IF_ERROR(visit_element(indices.type, [&](auto zero) -> Status {
    for (const auto index : indices.constant->as<decltype(zero)>()) {
      const auto wide = static_cast<int64_t>(index);
      if (wide < -limit || wide >= limit) {
        return invalid_argument(fmt::format("index {} is outside {} elements", wide, limit));
      }
      result.push_back(wide < 0 ? wide + limit : wide);
    }
    return {};
  }));
  return result;
}

Status gather(const graph::Gather& op, Operands in, const MutableConstant& out) {
  const graph::Dims& shape = in[0]->shape;
  const auto axis = static_cast<size_t>(op.axis);
  MILLRACE_ASSIGN_OR_RETURN(const auto indices, gather_indices(*in[1], shape[axis]));
  const int64_t outer = *checked_product(std::span(shape).first(axis));
  const int64_t inner = *checked_product(std::span(shape).subspan(axis + 1));
  const auto identity = [](int64_t i) { return i; };
  IndexOffsets offsets;
  offsets.push_back(dimension_offsets(outer, shape[axis] * inner, identity));
  offsets.push_back(dimension_offsets(static_cast<int64_t>(indices.size()), inner,
                                      [&](int64_t i) { return indices[static_cast<size_t>(i)]; }));
  offsets.push_back(dimension_offsets(inner, 1, identity));
  return move_elements(*in[0], offsets, out);
}

Status pad(const graph::Pad& op, Operands in, const MutableConstant& out) {
  const graph::Dims& shape = in[0]->shape;
  const graph::Dims strides = dense_strides(shape);
  IndexOffsets offsets(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    for (int64_t i = 0; i < out.value.shape[d]; ++i) {
      const int64_t source = graph::reference::padded_index(op.mode, i - op.begin[d], shape[d]);
      offsets[d].push_back(source == kFill ? kFill : source * strides[d]);
    }
  }
  MILLRACE_RETURN_IF_ERROR(visit_element(in[0]->type, [&](auto zero) -> Status {
    std::ranges::fill(out.as<decltype(zero)>(),
                      graph::reference::cast_to<decltype(zero)>(op.value));
    return {};
  }));
  return move_elements(*in[0], offsets, out);
}

// Returns the dequantised elements of a quantised constant: (q - zero_point) * scale.
Result<Value> numbers_of(const Value& value) {
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant numbers,
                            make_constant(tensor::DataType::kFloat32, value.shape));
  const graph::Quantisation& quantisation = *value.quantisation;
  size_t inner = 1;
  for (size_t d = quantisation.axis + 1; d < value.shape.size(); ++d)
    inner *= static_cast<size_t>(value.shape[d]);
  const auto to = numbers.as<float>();
  MILLRACE_RETURN_IF_ERROR(visit_element(value.type, [&](auto zero) -> Status {
    const auto from = value.constant->as<decltype(zero)>();
    for (size_t i = 0; i < to.size(); ++i) {
      const size_t index = i / inner % quantisation.scales.size();
      to[i] = static_cast<float>(static_cast<double>(from[i]) - quantisation.zero_points[index]) *
              quantisation.scales[index];
    }
    return {};
  }));
  return std::move(numbers.value);
}

struct Dispatch {
  Operands in;
  const MutableConstant& out;

  Status operator()(const graph::Reshape&) const { return reshape(in, out); }
  Status operator()(const graph::Transpose& op) const { return transpose(op, in, out); }
  Status operator()(const graph::Slice& op) const { return slice(op, in, out); }
  Status operator()(const graph::Expand&) const { return expand(in, out); }
  Status operator()(const graph::Concat& op) const { return concat(op, in, out); }
  Status operator()(const graph::Gather& op) const { return gather(op, in, out); }
  Status operator()(const graph::Pad& op) const { return pad(op, in, out); }
  Status operator()(const graph::Unary& op) const { return evaluate_unary(op, *in[0], out); }
  Status operator()(const graph::Binary& op) const {
    return evaluate_binary(op, *in[0], *in[1], out);
  }
  Status operator()(const graph::Reduce& op) const { return evaluate_reduce(op, *in[0], out); }
  Status operator()(const graph::MatMul& op) const { return evaluate_matmul(op, in, out); }
  // The operand has been dequantised already, so this makes a FLOAT32 copy.
  Status operator()(const graph::Requantise&) const { return reshape(in, out); }
  Status operator()(const graph::Cast&) const { return evaluate_cast(*in[0], out); }
  template <class Op>
  Status operator()(const Op& op) const {
    return unsupported(
        fmt::format("{} is not computed on constants", graph::name_of(graph::Operator(op))));
  }
};

}  // namespace

Result<Value> evaluate(const graph::Operator& op, Operands inputs) {
  std::deque<Value> numbers;
  std::vector<const Value*> operands(inputs.begin(), inputs.end());
  for (const Value*& input : operands) {
    if (input == nullptr) continue;
    if (!input->constant) return invalid_argument("an operand is not a constant");
    if (!input->quantisation || !graph::computes_numbers(op)) continue;
    MILLRACE_ASSIGN_OR_RETURN(numbers.emplace_back(), numbers_of(*input));
    input = &numbers.back();
  }
  // Fallback operators may have several outputs; evaluate_fallback() computes them.
  if (std::holds_alternative<graph::Fallback>(op))
    return unsupported("fallback operators are not computed here");
  MILLRACE_ASSIGN_OR_RETURN(auto type, graph::infer_output(op, operands));
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant output, make_constant(type.type, type.shape));
  if (output.value.elements() != 0)
    MILLRACE_RETURN_IF_ERROR(std::visit(Dispatch{operands, output}, op));
  return std::move(output.value);
}

}  // namespace millrace::lowering
