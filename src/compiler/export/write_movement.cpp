// Writes operators that move elements: Concat, Reshape, Transpose, Slice, Gather, Pad, Resize,
// Expand. Quantised tensors are dequantised before and quantised after the movement; runtimes can
// remove such a pair if the quantisation does not change.
#include <limits>

#include "compiler/export/operator_writers.h"
#include "lowering/evaluate/evaluate.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using graph::Node;
using tensor::DataType;

std::string numbers_of_first(ProtoModel& model, const Node& node) {
  return model.numbers(node.input(0));
}

bool has_empty_dimension(const Dims& shape) {
  for (const int64_t dim : shape)
    if (dim == 0) return true;
  return false;
}

// Returns the end of a slice in the form of the standard. A negative end would count from the back,
// so an end before the first element becomes the least int64_t. The end is computed from the last
// element, which is inside of the operand, since a full step beyond it might overflow.
int64_t slice_end(int64_t begin, int64_t size, int64_t step) {
  if (size == 0) return begin;
  const int64_t end = begin + (size - 1) * step + (step > 0 ? 1 : -1);
  return end < 0 ? std::numeric_limits<int64_t>::min() : end;
}

// Adds a scalar constant of this type.
Result<std::string> scalar(ProtoModel& model, DataType type, float number) {
  const graph::Value wide{{}, DataType::kFloat32, {}, graph::Constant::of<float>({number})};
  if (type == DataType::kFloat32) return model.constant(wide);
  const graph::Value* const operand = &wide;
  MILLRACE_ASSIGN_OR_RETURN(const graph::Value narrow,
                            lowering::evaluate(graph::Cast{type}, std::span(&operand, 1)));
  return model.constant(narrow);
}

// Whether the scales equal the ratio of the sizes, which the standard assumes if sizes are stated.
bool sizes_say_scales(const graph::Resize& op, const Dims& x) {
  for (size_t i = 0; i < x.size(); ++i)
    if (op.scales[i] != static_cast<float>(op.shape[i]) / static_cast<float>(x[i])) return false;
  return true;
}

}  // namespace

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Concat& op) {
  std::vector<std::string> operands;
  for (const graph::ValueId id : node.inputs) operands.push_back(model.numbers(id));
  return model.add("Concat", std::move(operands), {{"axis", op.axis}});
}

// In the standard, a dimension of 0 means the dimension of the operand, unless allowzero is set.
Result<std::string> write(ProtoModel& model, const Node& node, const graph::Reshape& op) {
  const std::string x = numbers_of_first(model, node);
  if (has_empty_dimension(op.shape))
    return model.add("Reshape", {x, model.integers(op.shape)}, {{"allowzero", int64_t{1}}});
  return model.add("Reshape", {x, model.integers(op.shape)});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Transpose& op) {
  return model.add("Transpose", {numbers_of_first(model, node)}, {{"perm", op.permutation}});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Slice& op) {
  const Dims& shape = model.value(node.input(0)).shape;
  Dims axes, starts, ends, steps;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (op.begin[i] == 0 && op.size[i] == shape[i] && op.step[i] == 1) continue;
    axes.push_back(static_cast<int64_t>(i));
    starts.push_back(op.begin[i]);
    ends.push_back(slice_end(op.begin[i], op.size[i], op.step[i]));
    steps.push_back(op.step[i]);
  }
  const std::string x = numbers_of_first(model, node);
  if (axes.empty()) return model.add("Identity", {x});
  const std::string first = model.integers(starts), last = model.integers(ends);
  const std::string along = model.integers(axes);
  return model.add("Slice", {x, first, last, along, model.integers(steps)});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Gather& op) {
  const std::string data = numbers_of_first(model, node);
  return model.add("Gather", {data, model.stored(node.input(1))}, {{"axis", op.axis}});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Pad& op) {
  const std::string x = numbers_of_first(model, node);
  Dims pads = op.begin;
  pads.insert(pads.end(), op.end.begin(), op.end.end());
  std::string filling;
  if (op.mode == graph::PadMode::kConstant && op.value != 0) {
    const DataType type = graph::number_type(model.value(node.input(0)));
    MILLRACE_ASSIGN_OR_RETURN(filling, scalar(model, type, op.value));
  }
  return model.add("Pad", {x, model.integers(pads), filling},
                   {{"mode", std::string(name_of(op.mode))}});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Resize& op) {
  const std::string x = numbers_of_first(model, node);
  std::vector<std::string> operands = {x, ""};
  const Dims& shape = model.value(node.input(0)).shape;
  if (sizes_say_scales(op, shape)) {
    operands.push_back("");
    operands.push_back(model.integers(op.shape));
  } else {
    operands.push_back(model.floats({static_cast<int64_t>(op.scales.size())}, op.scales));
  }
  return model.add("Resize", std::move(operands),
                   {{"coordinate_transformation_mode", std::string(name_of(op.coordinates))},
                    {"mode", std::string(name_of(op.mode))},
                    {"nearest_mode", std::string(name_of(op.nearest))}});
}

Result<std::string> write(ProtoModel& model, const Node& node, const graph::Expand& op) {
  const std::string x = numbers_of_first(model, node);
  return model.add("Expand", {x, model.integers(op.shape)});
}

}  // namespace millrace::compiler
