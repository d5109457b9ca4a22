// Encodes networks recursively, with the subgraphs in attributes. list_constants() and
// encode_network() must visit constants in the same order, since the position is the number of the
// segment.
#include "graph/archive/encode_network.h"

#include "graph/archive/encode_operator.h"

namespace millrace::network {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template <class Table>
using Offsets = std::vector<Offset<Table>>;

Offsets<format::OperatorSet> encode_operator_sets(Builder& builder, const Network& network) {
  Offsets<format::OperatorSet> sets;
  for (const auto& [domain, version] : network.opsets) {
    sets.push_back(format::CreateOperatorSetDirect(builder, domain.c_str(), version));
  }
  return sets;
}

Offsets<format::Dimension> encode_shape(Builder& builder, const std::vector<Dimension>& shape) {
  Offsets<format::Dimension> dimensions;
  for (const Dimension& dimension : shape) {
    dimensions.push_back(
        format::CreateDimensionDirect(builder, dimension.size, dimension.symbol.c_str()));
  }
  return dimensions;
}

Offsets<format::Declaration> encode_declarations(Builder& builder,
                                                 const std::vector<Input>& declared) {
  Offsets<format::Declaration> declarations;
  for (const Input& input : declared) {
    const auto shape = encode_shape(builder, input.shape);
    declarations.push_back(format::CreateDeclarationDirect(
        builder, input.name.c_str(), graph::enum_cast<format::DataType>(input.type),
        input.has_shape ? &shape : nullptr));
  }
  return declarations;
}

// A visitor that encodes an attribute in the same table as graph::Attribute, which tensors and
// graphs extend.
class AttributeEncoder {
 public:
  AttributeEncoder(Builder& builder, const Attribute& attribute, uint32_t& next_segment)
      : builder_(builder), attribute_(attribute), next_segment_(next_segment) {}

  Offset<format::Attribute> operator()(const graph::Value& tensor) const {
    const auto value = graph::encode_value(builder_, tensor, next_segment_);
    return format::CreateAttributeDirect(builder_, attribute_.name.c_str(),
                                         format::AttributeKind::Tensor, nullptr, nullptr, nullptr,
                                         value);
  }
  Offset<format::Attribute> operator()(const std::shared_ptr<const Network>& graph) const {
    const auto network = encode_network(builder_, *graph, next_segment_);
    return format::CreateAttributeDirect(builder_, attribute_.name.c_str(),
                                         format::AttributeKind::Graph, nullptr, nullptr, nullptr,
                                         {}, network);
  }
  template <class Plain>
  Offset<format::Attribute> operator()(const Plain& value) const {
    return graph::encode_attribute(builder_, {attribute_.name, value});
  }

 private:
  Builder& builder_;
  const Attribute& attribute_;
  uint32_t& next_segment_;
};

Offsets<format::Attribute> encode_attributes(Builder& builder, const Node& node,
                                             uint32_t& next_segment) {
  Offsets<format::Attribute> attributes;
  for (const Attribute& attribute : node.attributes) {
    attributes.push_back(
        std::visit(AttributeEncoder(builder, attribute, next_segment), attribute.value));
  }
  return attributes;
}

Offsets<format::NetworkNode> encode_nodes(Builder& builder, const Network& network,
                                          uint32_t& next_segment) {
  Offsets<format::NetworkNode> nodes;
  for (const Node& node : network.nodes) {
    const auto inputs = encode_names(builder, node.inputs);
    const auto outputs = encode_names(builder, node.outputs);
    const auto attributes = encode_attributes(builder, node, next_segment);
    nodes.push_back(format::CreateNetworkNodeDirect(builder, node.name.c_str(), node.domain.c_str(),
                                                    node.type.c_str(), &inputs, &outputs,
                                                    &attributes));
  }
  return nodes;
}

}  // namespace

void list_constants(const Network& network, std::vector<std::span<const std::byte>>& constants) {
  const auto add = [&](const graph::Value& value) {
    if (value.constant) constants.push_back(value.constant->bytes);
  };
  for (const graph::Value& initializer : network.initializers) add(initializer);
  for (const Node& node : network.nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (const auto* tensor = std::get_if<graph::Value>(&attribute.value)) add(*tensor);
      if (const auto* graph = std::get_if<std::shared_ptr<const Network>>(&attribute.value)) {
        list_constants(**graph, constants);
      }
    }
  }
}

std::vector<Offset<format::Name>> encode_names(Builder& builder,
                                               const std::vector<std::string>& names) {
  Offsets<format::Name> encoded;
  for (const std::string& name : names) {
    encoded.push_back(format::CreateNameDirect(builder, name.c_str()));
  }
  return encoded;
}

Offset<format::Network> encode_network(Builder& builder, const Network& network,
                                       uint32_t& next_segment) {
  const auto sets = encode_operator_sets(builder, network);
  const auto inputs = encode_declarations(builder, network.inputs);
  const auto outputs = encode_declarations(builder, network.outputs);
  Offsets<format::Value> initializers;
  for (const graph::Value& initializer : network.initializers) {
    initializers.push_back(graph::encode_value(builder, initializer, next_segment));
  }
  const auto nodes = encode_nodes(builder, network, next_segment);
  const auto captures = encode_names(builder, network.captures);
  return format::CreateNetworkDirect(builder, &sets, &inputs, &outputs, &initializers, &nodes,
                                     &captures);
}

}  // namespace millrace::network
