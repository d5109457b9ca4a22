// Decodes networks recursively: attributes may hold subgraphs, down to a limited depth.
#include "graph/archive/decode_network.h"

#include <fmt/format.h>

#include <utility>

#include "graph/archive/decode_operator.h"
#include "graph/network/check.h"

namespace millrace::network {
namespace {

template <class Table>
using Tables = flatbuffers::Vector<flatbuffers::Offset<Table>>;

class Decoder {
 public:
  Decoder(graph::StructureReader& reader, graph::ValueReader& values)
      : reader_(reader), values_(values) {}

  std::shared_ptr<const Network> network(const format::Network& table, size_t depth) {
    if (depth > kMaxSubgraphDepth) {
      reader_.fail(fmt::format("subgraphs nest deeper than {}", kMaxSubgraphDepth));
    }
    auto network = std::make_shared<Network>();
    if (!reader_.status().ok()) return network;
    for (const format::OperatorSet* set : *table.operator_sets()) operator_set(*set, *network);
    network->inputs = declarations(*table.inputs());
    network->outputs = declarations(*table.outputs());
    for (const format::Value* value : *table.initializers()) {
      network->initializers.push_back(values_.value(*value));
    }
    for (const format::NetworkNode* node : *table.nodes()) {
      if (!reader_.status().ok()) break;
      network->nodes.push_back(decode_node(*node, depth));
    }
    network->captures = names(*table.captures());
    return network;
  }

 private:
  void operator_set(const format::OperatorSet& table, Network& network) {
    std::string domain = reader_.text(*table.domain());
    if (!network.opsets.emplace(domain, table.version()).second) {
      reader_.fail(fmt::format("two versions of the operators of domain '{}'", domain));
    }
  }

  std::vector<std::string> names(const Tables<format::Name>& tables) {
    std::vector<std::string> names;
    for (const format::Name* name : tables) names.push_back(reader_.text(*name->text()));
    return names;
  }

  std::vector<Input> declarations(const Tables<format::Declaration>& tables) {
    std::vector<Input> declarations;
    for (const format::Declaration* table : tables) {
      Input declaration{.name = reader_.text(*table->name()),
                        .type = reader_.enumerator<tensor::DataType>("data type", table->type()),
                        .has_shape = table->shape() != nullptr};
      if (declaration.has_shape) declaration.shape = shape(*table->shape());
      declarations.push_back(std::move(declaration));
    }
    return declarations;
  }

  std::vector<Dimension> shape(const Tables<format::Dimension>& tables) {
    std::vector<Dimension> shape;
    for (const format::Dimension* table : tables) {
      shape.push_back(
          {table->size(), table->symbol() == nullptr ? "" : reader_.text(*table->symbol())});
    }
    return shape;
  }

  Node decode_node(const format::NetworkNode& table, size_t depth) {
    Node node{.name = reader_.text(*table.name()),
              .domain = reader_.text(*table.domain()),
              .type = reader_.text(*table.type()),
              .inputs = names(*table.inputs()),
              .outputs = names(*table.outputs()),
              .attributes = {}};
    for (const format::Attribute* attribute : *table.attributes()) {
      if (!reader_.status().ok()) break;
      node.attributes.push_back(decode_attribute(*attribute, depth));
    }
    return node;
  }

  Attribute decode_attribute(const format::Attribute& table, size_t depth) {
    if (table.kind() == format::AttributeKind::Tensor && table.tensor() != nullptr) {
      return {reader_.text(*table.name()), values_.value(*table.tensor())};
    }
    if (table.kind() == format::AttributeKind::Graph && table.graph() != nullptr) {
      return {reader_.text(*table.name()), network(*table.graph(), depth + 1)};
    }
    graph::Attribute plain = graph::decode_attribute(table, reader_);
    return {
        std::move(plain.name),
        std::visit([](auto& value) -> Attribute::Value { return std::move(value); }, plain.value)};
  }

  graph::StructureReader& reader_;
  graph::ValueReader& values_;
};

}  // namespace

std::shared_ptr<const Network> decode_network(const format::Network& table,
                                              graph::StructureReader& reader,
                                              graph::ValueReader& values) {
  return Decoder(reader, values).network(table, 0);
}

}  // namespace millrace::network
