// read_trees(): the attributes of TreeEnsembleClassifier and TreeEnsembleRegressor. Nodes are
// identified by the number of a tree and a number within the tree, and may be listed in any order.
// A sorted index maps these pairs to positions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "fallback/ml/ensemble.h"
#include "fallback/ml/rows.h"

namespace millrace::fallback {
namespace {

constexpr size_t kMostNodes = std::numeric_limits<int32_t>::max();

constexpr std::array<std::string_view, 8> kModes = {"BRANCH_LEQ",    "BRANCH_LT", "BRANCH_GTE",
                                                    "BRANCH_GT",     "BRANCH_EQ", "BRANCH_NEQ",
                                                    "BRANCH_MEMBER", "LEAF"};

Result<BranchMode> mode_of(const std::string& name) {
  const auto entry = std::ranges::find(kModes, name);
  const auto mode = static_cast<BranchMode>(entry - kModes.begin());
  if (entry == kModes.end() || mode == BranchMode::kMember)
    return invalid_argument(fmt::format("unknown node mode '{}'", name));
  return mode;
}

// Returns a list, which must have `count` entries.
Result<const Dims*> integers_of(const NodeView& node, const std::string& name, size_t count) {
  const Dims* list = node.integers(name.c_str());
  if (list != nullptr && list->size() == count) return list;
  return invalid_argument(fmt::format("{} has {} entries; expected {}", name,
                                      list != nullptr ? list->size() : 0, count));
}

Result<const std::vector<float>*> reals_of(const NodeView& node, const std::string& name,
                                           size_t count) {
  const auto* list = stated_numbers(node, name.c_str());
  if (list != nullptr && list->size() == count) return list;
  return invalid_argument(fmt::format("{} has {} entries; expected {}", name,
                                      list != nullptr ? list->size() : 0, count));
}

// Maps the tree and the number of a node to its position in the lists.
class NodeIndex {
 public:
  static Result<NodeIndex> make(const Dims& trees, const Dims& numbers) {
    NodeIndex index;
    index.entries_.reserve(trees.size());
    for (uint32_t i = 0; i < trees.size(); ++i)
      index.entries_.push_back({{trees[i], numbers[i]}, i});
    if (!std::ranges::is_sorted(index.entries_)) std::ranges::sort(index.entries_);
    const auto twice = std::ranges::adjacent_find(index.entries_, {}, &Entry::first);
    if (twice == index.entries_.end()) return index;
    return invalid_argument(
        fmt::format("tree {} has two nodes {}", twice->first.first, twice->first.second));
  }

  Result<uint32_t> find(int64_t tree, int64_t number) const {
    const auto entry =
        std::ranges::lower_bound(entries_, std::pair(tree, number), {}, &Entry::first);
    if (entry != entries_.end() && entry->first == std::pair(tree, number)) return entry->second;
    return invalid_argument(fmt::format("tree {} has no node {}", tree, number));
  }

 private:
  using Entry = std::pair<std::pair<int64_t, int64_t>, uint32_t>;
  std::vector<Entry> entries_;
};

struct NodeLists {
  const Dims *trees, *numbers, *features, *first, *second;
  const std::vector<float>* values;
  const std::vector<std::string>* modes;
  const Dims* missing;  // null if there is none
};

Result<NodeLists> node_lists(const NodeView& node) {
  NodeLists lists{};
  const Dims* trees = node.integers("nodes_treeids");
  if (trees == nullptr || trees->empty()) return invalid_argument("there are no nodes_treeids");
  const size_t count = trees->size();
  if (count > kMostNodes) return invalid_argument("there are too many nodes");
  lists.trees = trees;
  MILLRACE_ASSIGN_OR_RETURN(lists.numbers, integers_of(node, "nodes_nodeids", count));
  MILLRACE_ASSIGN_OR_RETURN(lists.features, integers_of(node, "nodes_featureids", count));
  MILLRACE_ASSIGN_OR_RETURN(lists.first, integers_of(node, "nodes_truenodeids", count));
  MILLRACE_ASSIGN_OR_RETURN(lists.second, integers_of(node, "nodes_falsenodeids", count));
  MILLRACE_ASSIGN_OR_RETURN(lists.values, reals_of(node, "nodes_values", count));
  lists.modes = node.texts("nodes_modes");
  if (lists.modes == nullptr || lists.modes->size() != count)
    return invalid_argument("nodes_modes must have one mode for each of nodes_treeids");
  lists.missing = node.integers("nodes_missing_value_tracks_true");
  if (lists.missing != nullptr && lists.missing->empty()) lists.missing = nullptr;
  if (lists.missing != nullptr && lists.missing->size() != count)
    return invalid_argument("nodes_missing_value_tracks_true must be as long as nodes_treeids");
  return lists;
}

Result<TreeNode> read_node(const NodeLists& lists, const NodeIndex& index, size_t at) {
  TreeNode node;
  MILLRACE_ASSIGN_OR_RETURN(node.mode, mode_of((*lists.modes)[at]));
  if (node.mode == BranchMode::kLeaf) return node;
  const int64_t feature = (*lists.features)[at], tree = (*lists.trees)[at];
  if (feature < 0 || feature > std::numeric_limits<int32_t>::max())
    return invalid_argument(
        fmt::format("a node compares feature {}, which is out of range", feature));
  node.feature = static_cast<uint32_t>(feature);
  node.value = (*lists.values)[at];
  node.missing_is_true = lists.missing != nullptr && (*lists.missing)[at] != 0;
  MILLRACE_ASSIGN_OR_RETURN(node.if_true, index.find(tree, (*lists.first)[at]));
  MILLRACE_ASSIGN_OR_RETURN(node.if_false, index.find(tree, (*lists.second)[at]));
  return node;
}

// The root of a tree is its first node, in the order of the lists, that is not a branch of another
// node.
void find_roots(const NodeLists& lists, Ensemble& ensemble) {
  std::vector<bool> has_parent(ensemble.nodes.size(), false);
  for (const TreeNode& node : ensemble.nodes) {
    if (node.mode == BranchMode::kLeaf) continue;
    has_parent[node.if_true] = has_parent[node.if_false] = true;
  }
  std::vector<std::pair<int64_t, uint32_t>> candidates;  // by tree, then position
  for (uint32_t i = 0; i < has_parent.size(); ++i)
    if (!has_parent[i]) candidates.push_back({(*lists.trees)[i], i});
  std::ranges::sort(candidates);
  const auto is_same_tree = [](const auto& a, const auto& b) { return a.first == b.first; };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), is_same_tree),
                   candidates.end());
  for (const auto& [tree, root] : candidates) ensemble.roots.push_back(root);
}

// Weights may be listed in any order; those of a leaf are made adjacent.
Status add_weights(const NodeView& node, const std::string& prefix, const NodeIndex& index,
                   Ensemble& ensemble) {
  const Dims* trees = node.integers((prefix + "_treeids").c_str());
  const size_t count = trees != nullptr ? trees->size() : 0;
  if (count == 0 || count > kMostNodes) return invalid_argument("the leaves have no weights");
  MILLRACE_ASSIGN_OR_RETURN(const Dims* numbers, integers_of(node, prefix + "_nodeids", count));
  MILLRACE_ASSIGN_OR_RETURN(const Dims* targets, integers_of(node, prefix + "_ids", count));
  MILLRACE_ASSIGN_OR_RETURN(const auto* values, reals_of(node, prefix + "_weights", count));
  std::vector<std::pair<uint32_t, uint32_t>> order;  // node, position in the lists
  for (uint32_t i = 0; i < count; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const uint32_t leaf, index.find((*trees)[i], (*numbers)[i]));
    const int64_t target = (*targets)[i];
    if (target < 0 || static_cast<uint64_t>(target) >= ensemble.targets)
      return invalid_argument(
          fmt::format("a leaf has a weight for target {} of {}", target, ensemble.targets));
    // Some converters also state weights for inner nodes, which have no effect.
    if (ensemble.nodes[leaf].mode == BranchMode::kLeaf) order.push_back({leaf, i});
  }
  std::ranges::sort(order);
  for (const auto& [leaf, at] : order) {
    const auto end = static_cast<uint32_t>(ensemble.weights.size());
    TreeNode& owner = ensemble.nodes[leaf];
    if (owner.if_false == 0) owner.if_true = end;
    owner.if_false = end + 1;
    ensemble.weights.push_back({static_cast<uint32_t>((*targets)[at]), (*values)[at]});
  }
  return {};
}

}  // namespace

Result<Ensemble> read_trees(const NodeView& node, const std::string& prefix, size_t targets) {
  Ensemble ensemble;
  ensemble.targets = targets;
  MILLRACE_ASSIGN_OR_RETURN(const NodeLists lists, node_lists(node));
  MILLRACE_ASSIGN_OR_RETURN(const NodeIndex index, NodeIndex::make(*lists.trees, *lists.numbers));
  ensemble.nodes.resize(lists.trees->size());
  for (size_t i = 0; i < ensemble.nodes.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(ensemble.nodes[i], read_node(lists, index, i));
  }
  MILLRACE_RETURN_IF_ERROR(settle(ensemble));
  find_roots(lists, ensemble);
  MILLRACE_RETURN_IF_ERROR(add_weights(node, prefix, index, ensemble));
  MILLRACE_ASSIGN_OR_RETURN(ensemble.transform,
                            post_transform_of(node.text("post_transform", "NONE")));
  return ensemble;
}

}  // namespace millrace::fallback
