#include "graph/partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "model/archive_header.h"

namespace millrace::graph {

CpuValues values_on_cpu(const Graph& graph, std::span<const Partition> partitions) {
  CpuValues values;
  values.read.resize(graph.values.size());
  values.made.resize(graph.values.size());
  for (const Partition& partition : partitions) {
    if (partition.kind == PartitionKind::kNpu) continue;
    for (const Node& node : std::span(graph.nodes).subspan(partition.first, partition.count)) {
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) values.read[id] = true;
      }
      for (const ValueId id : node.outputs) values.made[id] = true;
    }
  }
  return values;
}

PartitionKind kind_off_npu(const Graph& graph, std::span<const Partition> partitions, ValueId id) {
  for (const Partition& partition : partitions) {
    if (partition.kind == PartitionKind::kNpu) continue;
    for (const Node& node : std::span(graph.nodes).subspan(partition.first, partition.count))
      if (std::ranges::count(node.inputs, id) != 0 || std::ranges::count(node.outputs, id) != 0)
        return partition.kind;
  }
  return PartitionKind::kNpu;
}

std::vector<Precision> node_precisions(const Graph& graph, std::span<const Partition> partitions,
                                       Precision model) {
  std::vector<Precision> precisions(graph.nodes.size(), Precision::kFp32);
  for (const Partition& partition : partitions) {
    if (partition.kind != PartitionKind::kNpu) continue;
    for (uint32_t i = partition.first; i < partition.first + partition.count; ++i)
      precisions[i] = graph.nodes[i].precision.value_or(model);
  }
  return precisions;
}

std::vector<std::string> part_names(std::span<const Partition> partitions) {
  std::vector<std::string> names;
  // The prefixes, indexed by kind.
  constexpr std::array kPrefixes = {model::kNpuPartPrefix, model::kCpuPartPrefix,
                                    model::kCollectivePartPrefix};
  std::array<size_t, kPrefixes.size()> parts = {};
  for (const Partition& partition : partitions) {
    const auto kind = static_cast<size_t>(partition.kind);
    names.push_back(fmt::format("{}{}", kPrefixes[kind], parts[kind]++));
  }
  return names;
}

}  // namespace millrace::graph
