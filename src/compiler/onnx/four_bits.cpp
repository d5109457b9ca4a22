#include "compiler/onnx/four_bits.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "fallback/four_bits.h"

namespace millrace::compiler {
namespace {

// The types of the constants of four bits, by name.
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

void state(::onnx::NodeProto& node, const char* name, int64_t value) {
  const bool is_stated = std::ranges::any_of(
      node.attribute(), [&](const auto& attribute) { return attribute.name() == name; });
  if (is_stated) return;
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INT);
  attribute->set_i(value);
}

}  // namespace

void unpack_four_bits(std::span<const std::byte> packed, bool is_signed, std::span<uint8_t> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    const auto half = static_cast<uint8_t>(std::to_integer<unsigned>(packed[i / 2]) >> i % 2 * 4);
    const auto bits = static_cast<uint8_t>(half & 0xfu);
    // The upper half of a signed one repeats its sign.
    to[i] = is_signed && bits >= 8 ? static_cast<uint8_t>(bits | 0xf0u) : bits;
  }
}

void state_four_bits(::onnx::GraphProto& graph) {
  const auto types = constants_of(graph);
  if (types.empty()) return;
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    const bool quantises = node.op_type() == "QuantizeLinear";
    if (!quantises && node.op_type() != "GatherBlockQuantized") continue;
    const int index = quantises ? 2 : 0;
    if (node.input_size() <= index) continue;
    const auto type = types.find(node.input(index));
    if (type == types.end()) continue;
    if (quantises)
      state(node, "output_dtype", type->second);
    else
      state(node, "four_bits", 1);
  }
}

}  // namespace millrace::compiler
