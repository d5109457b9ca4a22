// kChanges lists the operator sets after 13 that changed the form of an operator. Fallback
// operators have the attributes and operands of the newest set, so a file must state the set that
// introduced this form. The result is the maximum over all nodes.
#include "compiler/export/operator_set.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <string_view>

#include "fallback/narrow_types.h"
#include "fallback/operator_table.h"
#include "lowering/operators/operator_table.h"

namespace millrace::compiler {
namespace {

constexpr int kLeastSet = 13;

// An operator set after 13 that changed the operands or attributes of an operator, not just its
// types.
struct Change {
  std::string_view type;
  int set;
  std::string_view attribute = {};  // only nodes with this attribute need the set; empty: all do
  std::string_view text = {};       // only with this value of the attribute; empty: any
};

constexpr Change kChanges[] = {
    {"AffineGrid", 20},
    {"AveragePool", 19, "dilations"},
    {"BatchNormalization", 15},
    {"Col2Im", 18},
    {"DFT", 20},
    {"DeformConv", 19},
    {"DequantizeLinear", 21, "block_size"},
    {"DequantizeLinear", 23, "output_dtype"},
    {"GRU", 14, "layout"},
    {"GridSample", 20, "mode", "cubic"},
    {"GridSample", 20, "mode", "linear"},
    {"GroupNormalization", 21},
    {"IsInf", 20},
    {"LSTM", 14, "layout"},
    {"LayerNormalization", 17},
    {"Pad", 19},
    {"QuantizeLinear", 21, "block_size"},
    {"QuantizeLinear", 21, "output_dtype"},
    {"QuantizeLinear", 23, "precision"},
    {"RNN", 14, "layout"},
    {"ReduceL1", 18},
    {"ReduceL2", 18},
    {"ReduceLogSum", 18},
    {"ReduceLogSumExp", 18},
    {"ReduceMax", 18},
    {"ReduceMean", 18},
    {"ReduceMin", 18},
    {"ReduceProd", 18},
    {"ReduceSumSquare", 18},
    {"Resize", 19},
    {"RoiAlign", 16},
    {"ScatterElements", 18},
    {"ScatterND", 18},
};

// Operators that the standard has removed. Files of early operator sets may have them.
constexpr std::string_view kRemoved[] = {
    "Affine", "Crop",       "ImageScaler", "ParametricSoftplus",
    "Scale",  "ScaledTanh", "Scatter",     "Upsample"};

bool needs(const graph::Fallback& op, const Change& change) {
  if (change.type != op.name) return false;
  if (change.attribute.empty()) return true;
  const auto attribute =
      std::ranges::find(op.attributes, change.attribute, &graph::Attribute::name);
  if (attribute == op.attributes.end()) return false;
  const auto* text = std::get_if<std::string>(&attribute->value);
  return change.text.empty() || (text != nullptr && *text == change.text);
}

// Whether the attribute states a type that a graph holds as another one: 16-bit floating-point
// types and narrow types.
bool states_other_type(const graph::Fallback& op, std::string_view name) {
  const auto attribute = std::ranges::find(op.attributes, name, &graph::Attribute::name);
  if (attribute == op.attributes.end()) return false;
  const auto* number = std::get_if<int64_t>(&attribute->value);
  return number != nullptr &&
         (fallback::narrow_type(*number) != nullptr || *number == ::onnx::TensorProto::FLOAT16 ||
          *number == ::onnx::TensorProto::BFLOAT16);
}

// A file says by the types of values that they are narrow, which a graph lacks.
bool needs_other_types(const graph::Fallback& op) {
  if (op.name == "BitCast") return states_other_type(op, "from") || states_other_type(op, "to");
  if (op.name == "QuantizeLinear") return states_other_type(op, "output_dtype");
  return op.name == "millrace.NarrowCast";
}

Result<int> set_of(const graph::Fallback& op) {
  if (needs_other_types(op))
    return unsupported("values of types that a graph does not have cannot be written to ONNX");
  if (op.name.starts_with("ai.onnx.ml."))
    return unsupported("operators of ai.onnx.ml cannot be written to ONNX");
  if (op.name.find('.') != std::string::npos) return kLeastSet;
  if (op.name == "RMSNormalization") return kLeastSet;  // written as several operators
  const fallback::OperatorSpec* spec = fallback::find_operator(op.name);
  if (spec == nullptr || spec->since > lowering::kMaxOpset ||
      std::ranges::find(kRemoved, op.name) != std::end(kRemoved))
    return unsupported(fmt::format("no operator set up to {} has it: it cannot be written to ONNX",
                                   lowering::kMaxOpset));
  int set = std::max(kLeastSet, int{spec->since});
  for (const Change& change : kChanges)
    if (needs(op, change)) set = std::max(set, change.set);
  return set;
}

// Operators of the graph: two of them can have a form that a later opset than 13 introduced.
int set_of(const graph::Reshape& op) {
  return std::ranges::find(op.shape, 0) == op.shape.end() ? kLeastSet : 14;  // allowzero
}
int set_of(const graph::Pool& op) {
  const bool dilated = std::ranges::any_of(op.dilations, [](int64_t d) { return d != 1; });
  return dilated && op.kind == graph::PoolKind::kAverage ? 19 : kLeastSet;
}
template <class Op>
int set_of(const Op&) {
  return kLeastSet;
}

}  // namespace

Result<int> operator_set_of(const graph::Graph& graph) {
  int set = kLeastSet;
  for (const graph::Node& node : graph.nodes) {
    const Result<int> needed =
        std::visit([](const auto& op) -> Result<int> { return set_of(op); }, node.op);
    if (!needed.ok())
      return needed.status().with_context(
          fmt::format("node '{}' ({})", node.name, graph::name_of(node.op)));
    set = std::max(set, *needed);
  }
  return set;
}

}  // namespace millrace::compiler
