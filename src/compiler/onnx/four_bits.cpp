#include "compiler/onnx/four_bits.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "fallback/four_bits.h"

namespace millrace::compiler {
namespace {

// Returns the types of the 4-bit constants of a graph, by name.
std::unordered_map<std::string, int32_t> constants_of(const ::onnx::GraphProto& graph) {
  std::unordered_map<std::string, int32_t> types;
  for (const auto& tensor : graph.initializer())
    if (fallback::has_four_bits(tensor.data_type()))
      types.emplace(tensor.name(), tensor.data_type());
  for (const auto& node : graph.node()) {
    if (node.op_type() != "Constant" || node.output_size() != 1) continue;
    for (const auto& attribute : node.attribute())
      if (attribute.has_t() && fallback::has_four_bits(attribute.t().data_type()))
        types.emplace(node.output(0), attribute.t().data_type());
  }
  return types;
}

// The 4-bit constants of a graph and of the graphs around it.
struct Scope {
  std::unordered_map<std::string, int32_t> types;
  const Scope* outer;

  std::optional<int32_t> find(const std::string& name) const {
    const auto own = types.find(name);
    if (own != types.end()) return own->second;
    return outer != nullptr ? outer->find(name) : std::nullopt;
  }
};

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
  const bool quantises = node.op_type() == "QuantizeLinear";
  if (!quantises && node.op_type() != "GatherBlockQuantized") return;
  const int index = quantises ? 2 : 0;
  if (node.input_size() <= index) return;
  const std::optional<int32_t> type = scope.find(node.input(index));
  if (!type) return;
  if (quantises)
    state(node, "output_dtype", *type);
  else
    state(node, "four_bits", 1);
}

void state_within(::onnx::GraphProto& graph, const Scope* outer) {
  const Scope scope{constants_of(graph), outer};
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    state_node(node, scope);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) state_within(*attribute.mutable_g(), &scope);
  }
}

}  // namespace

void unpack_four_bits(std::span<const std::byte> packed, bool is_signed, std::span<uint8_t> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    const auto half = static_cast<uint8_t>(std::to_integer<unsigned>(packed[i / 2]) >> i % 2 * 4);
    const auto bits = static_cast<uint8_t>(half & 0xfu);
    // Sign extension.
    to[i] = is_signed && bits >= 8 ? static_cast<uint8_t>(bits | 0xf0u) : bits;
  }
}

void state_four_bits(::onnx::GraphProto& graph) {
  state_within(graph, nullptr);
}

}  // namespace millrace::compiler
