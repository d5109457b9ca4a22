#include "compiler/onnx/narrow_types.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fallback/narrow_types.h"

namespace millrace::compiler {
namespace {

using fallback::narrow_type;
using ::onnx::TensorProto;
using Types = std::unordered_map<std::string, int32_t>;

bool is_in_networks(int32_t type) {
  return narrow_type(type) == nullptr && type != TensorProto::FLOAT16 &&
         type != TensorProto::BFLOAT16;
}

void note(const std::string& name, int32_t type, Types& types) {
  if (!is_in_networks(type)) types.emplace(name, type);
}

// Notes the type of the result of a node that states it.
void note_stated(const ::onnx::NodeProto& node, Types& types) {
  if (node.output_size() != 1) return;
  const bool casts = node.op_type() == "Cast" || node.op_type() == "BitCast";
  for (const auto& attribute : node.attribute()) {
    const bool states_type =
        (casts && attribute.name() == "to") ||
        (node.op_type() == "QuantizeLinear" && attribute.name() == "output_dtype");
    if (states_type) note(node.output(0), static_cast<int32_t>(attribute.i()), types);
    if (node.op_type() == "Constant" && attribute.has_t())
      note(node.output(0), attribute.t().data_type(), types);
  }
}

// Returns the types of the values of a graph that a network does not have, as far as they are
// stated, by name. Types that follow from others are added node by node.
Types types_of(const ::onnx::GraphProto& graph) {
  Types types;
  for (const auto& tensor : graph.initializer()) note(tensor.name(), tensor.data_type(), types);
  for (const auto* values : {&graph.input(), &graph.value_info()})
    for (const auto& value : *values)
      note(value.name(), value.type().tensor_type().elem_type(), types);
  for (const auto& node : graph.node()) note_stated(node, types);
  return types;
}

// The types of a graph and of the graphs around it.
struct Scope {
  Types types;
  const Scope* outer;

  // Returns the type of an operand of the node; nothing if networks have it, or it is not stated.
  std::optional<int32_t> find(const ::onnx::NodeProto& node, int operand) const {
    return operand < node.input_size() ? find(node.input(operand)) : std::nullopt;
  }
  std::optional<int32_t> find(const std::string& name) const {
    const auto own = types.find(name);
    if (own != types.end()) return own->second;
    return outer != nullptr ? outer->find(name) : std::nullopt;
  }
};

// The operand that has the type of the result, of nodes that keep the values of an operand or take
// its type; -1 for other nodes.
int operand_of_same_type(const ::onnx::NodeProto& node) {
  constexpr std::string_view kKeepValues[] = {"Identity", "Reshape", "Squeeze", "Transpose",
                                              "Unsqueeze"};
  if (node.op_type() == "CastLike") return 1;
  return std::ranges::find(kKeepValues, node.op_type()) != std::end(kKeepValues) ? 0 : -1;
}

// Notes the type of the result of a node that states it, or has it from an operand.
void note_result(const ::onnx::NodeProto& node, Scope& scope) {
  note_stated(node, scope.types);
  const int operand = operand_of_same_type(node);
  const auto type = operand >= 0 ? scope.find(node, operand) : std::nullopt;
  if (type && node.output_size() == 1) note(node.output(0), *type, scope.types);
}

// Sets an attribute. An existing one takes precedence, unless it is 0, the default of the standard,
// which means that the operand determines the type.
void state(::onnx::NodeProto& node, const char* name, int64_t value) {
  const auto stated = std::ranges::find_if(
      *node.mutable_attribute(), [&](const auto& attribute) { return attribute.name() == name; });
  const bool is_there = stated != node.mutable_attribute()->end();
  if (is_there && stated->i() != 0) return;
  auto* attribute = is_there ? &*stated : node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void state_node(::onnx::NodeProto& node, const Scope& scope) {
  const std::string& type = node.op_type();
  if (type == "BitCast") {
    if (const auto from = scope.find(node, 0)) state(node, "from", *from);
    return;
  }
  const int operand = type == "QuantizeLinear"         ? 2
                      : type == "CastLike"             ? 1
                      : type == "GatherBlockQuantized" ? 0
                                                       : -1;
  const auto narrow = operand >= 0 ? scope.find(node, operand) : std::nullopt;
  if (!narrow || narrow_type(*narrow) == nullptr) return;
  if (type == "QuantizeLinear") {
    state(node, "output_dtype", *narrow);
  } else if (type == "CastLike") {
    node.set_op_type("Cast");
    node.mutable_input()->RemoveLast();
    state(node, "to", *narrow);
  } else if (narrow_type(*narrow)->bits == 4) {
    state(node, "four_bits", 1);
  }
}

void state_within(::onnx::GraphProto& graph, const Scope* outer) {
  Scope scope{types_of(graph), outer};
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    state_node(node, scope);
    note_result(node, scope);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) state_within(*attribute.mutable_g(), &scope);
  }
}

}  // namespace

void state_narrow_types(::onnx::GraphProto& graph) {
  state_within(graph, nullptr);
}

}  // namespace millrace::compiler
