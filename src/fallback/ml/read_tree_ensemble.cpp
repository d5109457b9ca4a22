// read_tree_ensemble(): the attributes of TreeEnsemble. Inner nodes and leaves are in two lists,
// and branches refer to them by position. In the Ensemble, leaves follow the inner nodes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fallback/ml/ensemble.h"

namespace millrace::fallback {
namespace {

constexpr size_t kMost = std::numeric_limits<int32_t>::max();

struct Lists {
  const Dims *features, *modes, *first, *first_is_leaf, *second, *second_is_leaf;
  const std::vector<float>* splits;
  const Dims* missing;  // null if there is none
};

Status check_length(const char* name, const Dims* list, size_t count) {
  if (list != nullptr && list->size() == count) return {};
  return invalid_argument(fmt::format("{} has {} entries; expected {}", name,
                                      list != nullptr ? list->size() : 0, count));
}

Result<Lists> lists_of(const NodeView& node) {
  Lists lists{
      node.integers("nodes_featureids"),   node.integers("nodes_modes"),
      node.integers("nodes_truenodeids"),  node.integers("nodes_trueleafs"),
      node.integers("nodes_falsenodeids"), node.integers("nodes_falseleafs"),
      node.reals("nodes_splits"),          node.integers("nodes_missing_value_tracks_true")};
  const size_t count = lists.features != nullptr ? lists.features->size() : 0;
  if (count == 0 || count > kMost) return invalid_argument("there are no nodes_featureids");
  MILLRACE_RETURN_IF_ERROR(check_length("nodes_modes", lists.modes, count));
  MILLRACE_RETURN_IF_ERROR(check_length("nodes_truenodeids", lists.first, count));
  MILLRACE_RETURN_IF_ERROR(check_length("nodes_trueleafs", lists.first_is_leaf, count));
  MILLRACE_RETURN_IF_ERROR(check_length("nodes_falsenodeids", lists.second, count));
  MILLRACE_RETURN_IF_ERROR(check_length("nodes_falseleafs", lists.second_is_leaf, count));
  if (lists.splits == nullptr || lists.splits->size() != count)
    return invalid_argument("nodes_splits must have one FLOAT for each of nodes_featureids");
  if (lists.missing != nullptr && lists.missing->empty()) lists.missing = nullptr;
  if (lists.missing != nullptr)
    MILLRACE_RETURN_IF_ERROR(check_length("nodes_missing_value_tracks_true", lists.missing, count));
  return lists;
}

// Returns the index of a branch target in the Ensemble, in which leaves follow the inner nodes.
Result<uint32_t> branch(const Dims& targets, const Dims& is_leaf, size_t at, size_t nodes,
                        size_t leaves) {
  const bool leaf = is_leaf[at] != 0;
  const size_t count = leaf ? leaves : nodes;
  if (targets[at] >= 0 && static_cast<uint64_t>(targets[at]) < count)
    return static_cast<uint32_t>(targets[at] + static_cast<int64_t>(leaf ? nodes : 0));
  return invalid_argument(
      fmt::format("a branch leads to {} {} of {}", leaf ? "leaf" : "node", targets[at], count));
}

Result<TreeNode> read_node(const Lists& lists, size_t at, size_t leaves) {
  const size_t nodes = lists.features->size();
  const int64_t mode = (*lists.modes)[at], feature = (*lists.features)[at];
  if (mode < 0 || mode > static_cast<int64_t>(BranchMode::kMember))
    return invalid_argument(fmt::format("unknown node mode {}", mode));
  if (feature < 0 || feature > std::numeric_limits<int32_t>::max())
    return invalid_argument(
        fmt::format("a node compares feature {}, which is out of range", feature));
  TreeNode node;
  node.mode = static_cast<BranchMode>(mode);
  node.feature = static_cast<uint32_t>(feature);
  node.value = (*lists.splits)[at];
  node.missing_is_true = lists.missing != nullptr && (*lists.missing)[at] != 0;
  MILLRACE_ASSIGN_OR_RETURN(node.if_true,
                            branch(*lists.first, *lists.first_is_leaf, at, nodes, leaves));
  MILLRACE_ASSIGN_OR_RETURN(node.if_false,
                            branch(*lists.second, *lists.second_is_leaf, at, nodes, leaves));
  return node;
}

// The sets of all kMember nodes are one list, in the order of the nodes. Each set ends with NaN.
Status add_members(const NodeView& node, Ensemble& ensemble) {
  const auto* values = node.reals("membership_values");
  size_t at = 0;
  for (TreeNode& owner : ensemble.nodes) {
    if (owner.mode != BranchMode::kMember) continue;
    if (values == nullptr || at >= values->size())
      return invalid_argument("membership_values has fewer sets than nodes that need one");
    owner.members = static_cast<uint32_t>(ensemble.members.size());
    auto& members = ensemble.members.emplace_back();
    for (; at < values->size() && !std::isnan((*values)[at]); ++at)
      members.push_back((*values)[at]);
    ++at;
    std::ranges::sort(members);
  }
  return {};
}

Status add_leaves(const Dims& targets, const std::vector<float>& weights, Ensemble& ensemble) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0 || static_cast<uint64_t>(targets[i]) >= ensemble.targets)
      return invalid_argument(
          fmt::format("a leaf has a weight for target {} of {}", targets[i], ensemble.targets));
    const auto at = static_cast<uint32_t>(i);
    TreeNode leaf;
    leaf.if_true = at;
    leaf.if_false = at + 1;
    ensemble.nodes.push_back(leaf);
    ensemble.weights.push_back({static_cast<uint32_t>(targets[i]), weights[i]});
  }
  return {};
}

Status add_roots(const NodeView& node, size_t inner_nodes, Ensemble& ensemble) {
  const Dims* roots = node.integers("tree_roots");
  if (roots == nullptr || roots->empty()) return invalid_argument("there are no tree_roots");
  for (const int64_t root : *roots) {
    if (root < 0 || static_cast<uint64_t>(root) >= inner_nodes)
      return invalid_argument(fmt::format("root {} is outside the {} nodes", root, inner_nodes));
    ensemble.roots.push_back(static_cast<uint32_t>(root));
  }
  return {};
}

Status read_rules(const NodeView& node, Ensemble& ensemble) {
  const int64_t aggregate = node.integer("aggregate_function", 1);
  const int64_t transform = node.integer("post_transform", 0);
  if (aggregate < 0 || aggregate > static_cast<int64_t>(Aggregate::kMax))
    return invalid_argument(fmt::format("unknown aggregate_function {}", aggregate));
  if (transform < 0 || transform > static_cast<int64_t>(PostTransform::kProbit))
    return invalid_argument(fmt::format("unknown post_transform {}", transform));
  ensemble.aggregate = static_cast<Aggregate>(aggregate);
  ensemble.transform = static_cast<PostTransform>(transform);
  return {};
}

}  // namespace

Result<Ensemble> read_tree_ensemble(const NodeView& node) {
  Ensemble ensemble;
  const int64_t targets = node.integer("n_targets", 1);
  if (targets < 1) return invalid_argument("n_targets must be positive");
  ensemble.targets = static_cast<size_t>(targets);
  MILLRACE_RETURN_IF_ERROR(read_rules(node, ensemble));
  MILLRACE_ASSIGN_OR_RETURN(const Lists lists, lists_of(node));
  const Dims* leaf_targets = node.integers("leaf_targetids");
  const auto* leaf_weights = node.reals("leaf_weights");
  const bool leaves_fit = leaf_targets != nullptr && leaf_weights != nullptr &&
                          leaf_targets->size() == leaf_weights->size() &&
                          leaf_targets->size() <= kMost;
  if (!leaves_fit)
    return invalid_argument("leaf_weights must have one FLOAT for each of leaf_targetids");
  for (size_t i = 0; i < lists.features->size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const TreeNode inner, read_node(lists, i, leaf_targets->size()));
    ensemble.nodes.push_back(inner);
  }
  MILLRACE_RETURN_IF_ERROR(add_members(node, ensemble));
  MILLRACE_RETURN_IF_ERROR(add_roots(node, lists.features->size(), ensemble));
  MILLRACE_RETURN_IF_ERROR(add_leaves(*leaf_targets, *leaf_weights, ensemble));
  MILLRACE_RETURN_IF_ERROR(settle(ensemble));
  return ensemble;
}

}  // namespace millrace::fallback
