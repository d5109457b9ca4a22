// Writes operators with weights or windows: Conv, Pool, GlobalPool, MatMul (as Gemm where that is
// one node instead of several), BatchNormalization. Fused residuals and activations become nodes of
// their own.
#include <utility>

#include "compiler/export/operator_writers.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

constexpr size_t kSpatialBegin = 2;  // the first spatial dimension of [N, C, spatial...]

Dims joined(const Dims& begins, const Dims& ends) {
  Dims all = begins;
  all.insert(all.end(), ends.begin(), ends.end());
  return all;
}

// Reshapes the slopes of PRelu from [M] in the graph to [M, 1...], which the standard broadcasts
// along the channels.
std::string channel_slope(ProtoModel& model, ValueId slope, size_t spatial_rank) {
  Dims shape(1 + spatial_rank, 1);
  shape[0] = model.value(slope).shape[0];
  return model.add("Reshape", {model.numbers(slope), model.integers(shape)});
}

Dims last_two_swapped(size_t rank) {
  Dims permutation(rank);
  for (size_t i = 0; i < rank; ++i) permutation[i] = static_cast<int64_t>(i);
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permutation;
}

// Adds a Transpose of the last two dimensions of an operand.
std::string transposed(ProtoModel& model, ValueId id) {
  return model.add("Transpose", {model.numbers(id)},
                   {{"perm", last_two_swapped(model.value(id).shape.size())}});
}

// Whether to write Gemm: it needs rank 2, and is preferred if a MatMul would need further nodes for
// transpositions, alpha or the bias.
bool is_gemm(const ProtoModel& model, const Node& node, const graph::MatMul& op) {
  const Dims &a = model.value(node.input(0)).shape, &b = model.value(node.input(1)).shape;
  const bool plain =
      !op.transpose_a && !op.transpose_b && op.alpha == 1 && node.input(2) == kNoValue;
  return !plain && a.size() == 2 && b.size() == 2;
}

std::string write_gemm(ProtoModel& model, const Node& node, const graph::MatMul& op) {
  const std::string a = model.numbers(node.input(0)), b = model.numbers(node.input(1));
  return model.add("Gemm", {a, b, model.numbers(node.input(2))},
                   {{"alpha", op.alpha},
                    {"transA", int64_t{op.transpose_a}},
                    {"transB", int64_t{op.transpose_b}}});
}

std::string write_product(ProtoModel& model, const Node& node, const graph::MatMul& op) {
  const auto operand = [&](ValueId id, bool transpose) {
    return transpose ? transposed(model, id) : model.numbers(id);
  };
  const std::string a = operand(node.input(0), op.transpose_a);
  std::string y = model.add("MatMul", {a, operand(node.input(1), op.transpose_b)});
  if (op.alpha != 1) y = model.add("Mul", {y, model.floats({}, {op.alpha})});
  if (node.input(2) != kNoValue) y = model.add("Add", {y, model.numbers(node.input(2))});
  return y;
}

// Returns the end padding to state: pads_end without ceil_excess, which ceil_mode adds.
Dims stated_pads_end(const graph::Pool& op) {
  Dims pads = op.pads_end;
  for (size_t i = 0; i < pads.size(); ++i) pads[i] -= op.ceil_excess[i];
  return pads;
}

// Whether ceil_mode gives exactly the windows of this Pool. Passes may have changed its padding.
bool ceil_mode_gives(const graph::Pool& op, const Dims& x) {
  for (size_t i = 0; i < op.kernel.size(); ++i) {
    const int64_t begin = op.pads_begin[i], end = op.pads_end[i] - op.ceil_excess[i];
    const int64_t size = x[kSpatialBegin + i];
    const int64_t extent = (op.kernel[i] - 1) * op.dilations[i] + 1;
    const int64_t room = size + begin + end - extent;
    const int64_t last = room < 0 ? 0 : (room + op.strides[i] - 1) / op.strides[i] * op.strides[i];
    const int64_t excess = room >= 0 && last < size + begin ? last - room : 0;
    if ((excess > 0 ? excess : 0) != op.ceil_excess[i]) return false;
  }
  return true;
}

bool any(const Dims& entries, int64_t but) {
  for (const int64_t entry : entries)
    if (entry != but) return true;
  return false;
}

}  // namespace

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Conv& op) {
  const std::string x = model.numbers(node.input(0));
  const std::string weight = model.numbers(node.input(1));
  const Dims& shape = model.value(node.input(1)).shape;
  std::string y = model.add("Conv", {x, weight, model.numbers(node.input(2))},
                            {{"dilations", op.dilations},
                             {"group", op.group},
                             {"kernel_shape", Dims(shape.begin() + kSpatialBegin, shape.end())},
                             {"pads", joined(op.pads_begin, op.pads_end)},
                             {"strides", op.strides}});
  if (node.input(3) != kNoValue) y = model.add("Add", {y, model.numbers(node.input(3))});
  if (node.input(4) == kNoValue) return write_function(model, op.activation, y);
  return model.add("PRelu", {y, channel_slope(model, node.input(4), op.strides.size())});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Pool& op) {
  const bool ceil = any(op.ceil_excess, 0);
  if (ceil && !ceil_mode_gives(op, model.value(node.input(0)).shape))
    return unsupported("ceil_mode does not give its windows beyond the end");
  ProtoAttributes attributes = {{"kernel_shape", op.kernel},
                                {"pads", joined(op.pads_begin, stated_pads_end(op))},
                                {"strides", op.strides}};
  if (ceil) attributes.push_back({"ceil_mode", int64_t{1}});
  if (any(op.dilations, 1)) attributes.push_back({"dilations", op.dilations});
  if (op.count_include_pad) attributes.push_back({"count_include_pad", int64_t{1}});
  return model.add(op.kind == graph::PoolKind::kMax ? "MaxPool" : "AveragePool",
                   {model.numbers(node.input(0))}, attributes);
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::GlobalPool& op) {
  return model.add(op.kind == graph::PoolKind::kMax ? "GlobalMaxPool" : "GlobalAveragePool",
                   {model.numbers(node.input(0))});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::MatMul& op) {
  std::string y =
      is_gemm(model, node, op) ? write_gemm(model, node, op) : write_product(model, node, op);
  return write_function(model, op.activation, std::move(y));
}

Result<std::string> write(ProtoModel& model, const Node& node,
                          const graph::BatchNormalization& op) {
  std::vector<std::string> operands;
  for (const ValueId id : node.inputs) operands.push_back(model.numbers(id));
  return model.add("BatchNormalization", std::move(operands), {{"epsilon", op.epsilon}});
}

}  // namespace millrace::compiler
