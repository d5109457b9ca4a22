// Partitioning by list scheduling. Nodes are taken greedily: all nodes that are ready for one kind
// of partition, then all that are ready for the next kind, and so on, starting once with the NPU
// and once with the CPU; the grouping with fewer partitions is used. Then small NPU partitions
// between two CPU partitions move to the CPU, and the nodes are grouped anew, until none is left
// that does too little work.
#include "lowering/placement/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <span>
#include <utility>

#include "graph/collective.h"
#include "lowering/placement/collective_order.h"
#include "lowering/placement/placement_cost.h"

namespace millrace::lowering {
namespace {

using graph::Graph;
using graph::Node;
using graph::Partition;
using graph::PartitionKind;

// The names by which the node is selected together with others: those of its operator.
std::vector<std::string> operator_names(const Node& node) {
  std::vector<std::string> names = {graph::name_of(node.op)};
  if (const auto* unary = std::get_if<graph::Unary>(&node.op)) {
    names.emplace_back(graph::name_of(unary->function.kind));
  } else if (const auto* binary = std::get_if<graph::Binary>(&node.op)) {
    names.emplace_back(graph::name_of(binary->kind));
  }
  for (const graph::Origin& origin : node.origins) names.push_back(origin.type);
  return names;
}

// The names by which the node alone is selected: its own, and those of its origins.
std::vector<std::string> node_names(const Node& node) {
  std::vector<std::string> names = {node.name};
  for (const graph::Origin& origin : node.origins) names.push_back(origin.name);
  return names;
}

// An order of the nodes, and its division into partitions.
struct Grouping {
  std::vector<uint32_t> order;
  std::vector<Partition> partitions;
};

class Grouper {
 public:
  Grouper(const Graph& graph, const std::vector<PartitionKind>& kinds)
      : kinds_(kinds),
        collectives_(collective_order(graph)),
        readers_(kinds.size()),
        unmade_(kinds.size()) {
    std::vector<uint32_t> maker(graph.values.size(), kNoNode);
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (const graph::ValueId id : graph.nodes[i].inputs) {
        if (id == graph::kNoValue || maker[id] == kNoNode) continue;
        readers_[maker[id]].push_back(i);
        ++unmade_[i];
      }
      for (const graph::ValueId id : graph.nodes[i].outputs) maker[id] = i;
    }
  }

  // Takes all nodes that can run on one kind of partition, then all that can run on the next kind,
  // and so on. Without collectives this is optimal: no other grouping that starts with the same
  // kind runs more nodes in as many partitions. With collectives, nodes that the upcoming ones do
  // not need are taken after these, so that they can run beside them (CollectiveOrder::has_turn()).
  Grouping group(PartitionKind first) const {
    Progress progress{{}, unmade_, std::vector<bool>(collectives_.count + 1), 1, {}};
    for (uint32_t i = 0; i < kinds_.size(); ++i)
      if (unmade_[i] == 0) make_ready(progress, i);
    for (PartitionKind kind = first; progress.grouping.order.size() < kinds_.size();
         kind = next(kind))
      take_partition(progress, kind);
    return std::move(progress.grouping);
  }

 private:
  static constexpr uint32_t kNoNode = 0xffffffffu;

  static constexpr size_t kKinds = 3;

  // The number of the last collective that a node depends on, and the node. Nodes that depend on an
  // earlier collective come first, since others may have to wait for a later one; then nodes come
  // in the order of the graph.
  using Ready = std::pair<uint32_t, uint32_t>;
  using ReadyNodes = std::priority_queue<Ready, std::vector<Ready>, std::greater<Ready>>;

  struct Progress {
    Grouping grouping;
    std::vector<uint32_t> unmade;  // by node: operands that are still to be made
    std::vector<bool> is_begun;    // by number of the collective, from 1 on
    size_t upcoming = 1;           // all collectives with a lower number have begun
    std::array<ReadyNodes, kKinds> ready;
  };

  void make_ready(Progress& progress, uint32_t node) const {
    progress.ready[static_cast<size_t>(kinds_[node])].push({collectives_.before[node], node});
  }

  void take_partition(Progress& progress, PartitionKind kind) const {
    const auto begin = static_cast<uint32_t>(progress.grouping.order.size());
    const uint32_t upcoming = upcoming_collective(progress);
    ReadyNodes& ready = progress.ready[static_cast<size_t>(kind)];
    std::vector<Ready> later;
    while (!ready.empty()) {
      const Ready node = ready.top();
      ready.pop();
      if (kind == PartitionKind::kCollective)
        progress.is_begun[collectives_.number[node.second]] = true;
      else if (!collectives_.has_turn(node.second, upcoming)) {
        later.push_back(node);
        continue;
      }
      take(progress, node.second);
    }
    for (const Ready& node : later) ready.push(node);
    const auto count = static_cast<uint32_t>(progress.grouping.order.size()) - begin;
    if (count > 0) progress.grouping.partitions.push_back({kind, begin, count});
  }

  void take(Progress& progress, uint32_t node) const {
    progress.grouping.order.push_back(node);
    for (const uint32_t reader : readers_[node])
      if (--progress.unmade[reader] == 0) make_ready(progress, reader);
  }

  // The first collective that has not begun; kNone if all have.
  static uint32_t upcoming_collective(Progress& progress) {
    size_t& upcoming = progress.upcoming;
    while (upcoming < progress.is_begun.size() && progress.is_begun[upcoming]) ++upcoming;
    return upcoming == progress.is_begun.size() ? CollectiveOrder::kNone
                                                : static_cast<uint32_t>(upcoming);
  }
  static PartitionKind next(PartitionKind kind) {
    return static_cast<PartitionKind>((static_cast<size_t>(kind) + 1) % kKinds);
  }

  const std::vector<PartitionKind>& kinds_;  // by node
  const CollectiveOrder collectives_;
  std::vector<std::vector<uint32_t>> readers_;  // by node: the nodes that read a value of it
  std::vector<uint32_t> unmade_;                // by node: operands that other nodes make
};

Grouping best_grouping(const Graph& graph, const std::vector<PartitionKind>& kinds) {
  const Grouper grouper(graph, kinds);
  Grouping npu = grouper.group(PartitionKind::kNpu);
  Grouping cpu = grouper.group(PartitionKind::kCpu);
  return cpu.partitions.size() < npu.partitions.size() ? cpu : npu;
}

PartitionKind kind_of(const Graph& graph, const Node& node, const graph::Capabilities& capabilities,
                      const CpuOperators& cpu_operators) {
  if (graph::is_collective(node.op)) return PartitionKind::kCollective;
  const bool on_cpu = goes_to_cpu(graph, node, capabilities, cpu_operators);
  return on_cpu ? PartitionKind::kCpu : PartitionKind::kNpu;
}

Status check_no_collective(const Graph& graph, const CpuOperators& cpu_operators) {
  for (const Node& node : graph.nodes) {
    if (!graph::is_collective(node.op)) continue;
    if (const auto names = matching_names(node, cpu_operators); !names.empty())
      return invalid_argument(
          fmt::format("'{}' names the collective \"{}\", which cannot be put on the CPU: it runs "
                      "between the ranks, in a partition of its own",
                      names.front(), node.name));
  }
  return {};
}

// Whether a partition is an island: an NPU partition between two CPU partitions.
bool is_island(std::span<const Partition> partitions, size_t index) {
  return partitions[index].kind == PartitionKind::kNpu &&
         partitions[index - 1].kind == PartitionKind::kCpu &&
         partitions[index + 1].kind == PartitionKind::kCpu;
}

// Moves the nodes of islands that are not worth their transfers to the CPU. False if there are
// none.
bool give_up_islands(PlacementCost& cost, const Grouping& grouping,
                     std::vector<PartitionKind>& kinds) {
  bool any = false;
  for (size_t i = 1; i + 1 < grouping.partitions.size(); ++i) {
    const auto [kind, first, count] = grouping.partitions[i];
    const std::span<const uint32_t> nodes(grouping.order.data() + first, count);
    if (!is_island(grouping.partitions, i) || cost.is_worth_crossing(nodes)) continue;
    for (const uint32_t node : nodes) kinds[node] = PartitionKind::kCpu;
    any = true;
  }
  return any;
}

}  // namespace

Status check_names(const Graph& graph, const OperatorNames& names, std::string_view purpose) {
  OperatorNames operators, nodes;
  for (const Node& node : graph.nodes) {
    for (std::string& name : operator_names(node)) operators.insert(std::move(name));
    for (std::string& name : node_names(node)) nodes.insert(std::move(name));
  }
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!operators.contains(name) && !nodes.contains(name))
      missing.push_back(fmt::format("'{}'", name));
  }
  if (missing.empty()) return {};
  return invalid_argument(
      fmt::format("the model has no operator {} {}, and no node of that name; "
                  "after optimisation its operators are: {}",
                  fmt::join(missing, ", "), purpose, fmt::join(operators, ", ")));
}

bool goes_to_cpu(const Graph& graph, const Node& node, const graph::Capabilities& capabilities,
                 const CpuOperators& cpu_operators) {
  return !capabilities.runs_on_npu(graph, node) || !matching_names(node, cpu_operators).empty();
}

std::vector<std::string> matching_names(const Node& node, const CpuOperators& cpu_operators) {
  if (cpu_operators.empty()) return {};
  CpuOperators matching;
  for (const auto& names : {operator_names(node), node_names(node)}) {
    for (const std::string& name : names) {
      if (cpu_operators.contains(name)) matching.insert(name);
    }
  }
  return {matching.begin(), matching.end()};
}

CpuOperators matching_operators(const Graph& graph, const CpuOperators& cpu_operators) {
  CpuOperators matching;
  for (const Node& node : graph.nodes) {
    const auto names = matching_names(node, cpu_operators);
    matching.insert(names.begin(), names.end());
  }
  return matching;
}

Result<std::vector<Partition>> place_nodes(Graph& graph, const graph::Capabilities& capabilities,
                                           const CpuOperators& cpu_operators) {
  MILLRACE_RETURN_IF_ERROR(check_names(graph, cpu_operators, "to put on the CPU"));
  MILLRACE_RETURN_IF_ERROR(check_no_collective(graph, cpu_operators));
  std::vector<PartitionKind> kinds;
  for (const Node& node : graph.nodes)
    kinds.push_back(kind_of(graph, node, capabilities, cpu_operators));
  Grouping grouping = best_grouping(graph, kinds);
  PlacementCost cost(graph);
  while (cpu_operators.empty() && give_up_islands(cost, grouping, kinds))
    grouping = best_grouping(graph, kinds);
  if (grouping.partitions.size() > graph::kMaxPartitions) {
    return invalid_argument(
        fmt::format("the model would have {} partitions; at most {} are possible: put fewer "
                    "operators on the CPU",
                    grouping.partitions.size(), graph::kMaxPartitions));
  }
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes.size());
  for (const uint32_t index : grouping.order) nodes.push_back(std::move(graph.nodes[index]));
  graph.nodes = std::move(nodes);
  return std::move(grouping.partitions);
}

}  // namespace millrace::lowering
