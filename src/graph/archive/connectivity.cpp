// Derives the edges between partitions from the graph: for each value, the partition that makes it
// and every other partition that reads it. "model_input" and "model_output" stand for the caller.
#include "graph/archive/connectivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "graph/partitions.h"
#include "model/archive_header.h"

namespace millrace::graph {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kModelInput = "model_input";
constexpr const char* kModelOutput = "model_output";

// A value that one part, or the caller, makes and another part, or the caller, reads.
struct Edge {
  ValueId value;
  std::string from, to;
};

// The parts (partitions) of a model by name, and the values that pass between them.
class Parts {
 public:
  explicit Parts(const CompiledModel& model)
      : model_(model),
        names_(part_names(model.partitions)),
        maker_(model.graph.values.size(), kModelInput) {
    for (size_t part = 0; part < names_.size(); ++part) {
      for (const Node& node : nodes(part))
        for (const ValueId id : node.outputs) maker_[id] = names_[part];
    }
    for (size_t part = 0; part < names_.size(); ++part) add_edges_to(part);
    for (const ValueId id : model.graph.outputs) edges_.push_back({id, maker_[id], kModelOutput});
  }

  const std::vector<std::string>& names() const { return names_; }

  Json connectivity() const {
    Json edges = Json::array();
    for (const Edge& edge : edges_) {
      const Value& value = model_.graph.values[edge.value];
      edges.push_back({{"tensor", value.name},
                       {"type", to_string(value.type)},
                       {"shape", value.shape},
                       {"from", edge.from},
                       {"to", edge.to}});
    }
    return {{"execution_order", names_}, {"edges", std::move(edges)}};
  }

  Json subgraph(size_t part) const {
    Json operators = Json::array();
    for (const Node& node : nodes(part)) {
      operators.push_back({{"name", node.name}, {"operator", name_of(node.op)}});
    }
    Json inputs = Json::array(), outputs = Json::array();
    std::set<ValueId> left;  // by value: one line for an output that goes to several parts
    for (const Edge& edge : edges_) {
      const std::string& tensor = model_.graph.values[edge.value].name;
      if (edge.to == names_[part]) inputs.push_back(tensor);
      if (edge.from == names_[part] && left.insert(edge.value).second) outputs.push_back(tensor);
    }
    return {{"kind", name_of(model_.partitions[part].kind)},
            {"operators", std::move(operators)},
            {"inputs", std::move(inputs)},
            {"outputs", std::move(outputs)}};
  }

 private:
  std::span<const Node> nodes(size_t part) const {
    const Partition& partition = model_.partitions[part];
    return std::span(model_.graph.nodes).subspan(partition.first, partition.count);
  }

  void add_edges_to(size_t part) {
    std::set<ValueId> seen;
    for (const Node& node : nodes(part)) {
      for (const ValueId id : node.inputs) {
        if (id == kNoValue || model_.graph.values[id].constant || maker_[id] == names_[part] ||
            !seen.insert(id).second) {
          continue;
        }
        edges_.push_back({id, maker_[id], names_[part]});
      }
    }
  }

  const CompiledModel& model_;
  std::vector<std::string> names_;  // by partition
  std::vector<std::string> maker_;  // by value
  std::vector<Edge> edges_;
};

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<model::SideFile> describe_parts(const CompiledModel& model) {
  const auto on_npu = [](const Partition& partition) {
    return partition.kind == PartitionKind::kNpu;
  };
  if (std::ranges::all_of(model.partitions, on_npu)) return {};
  const Parts parts(model);
  std::vector<model::SideFile> files;
  files.push_back({"", model::kConnectivityFile, text_of(parts.connectivity())});
  for (size_t part = 0; part < parts.names().size(); ++part) {
    files.push_back({parts.names()[part], model::kSubgraphFile, text_of(parts.subgraph(part))});
  }
  return files;
}

}  // namespace millrace::graph
