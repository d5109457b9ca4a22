#include "fallback/ml/ensemble.h"

#include <fmt/format.h>

#include <algorithm>

#include "fallback/ml/rows.h"

namespace millrace::fallback {
namespace {

bool takes_first(const Ensemble& ensemble, const TreeNode& node, double feature) noexcept {
  if (node.missing_is_true && std::isnan(feature)) return true;
  switch (node.mode) {
    case BranchMode::kAtMost:
      return feature <= node.value;
    case BranchMode::kLess:
      return feature < node.value;
    case BranchMode::kAtLeast:
      return feature >= node.value;
    case BranchMode::kGreater:
      return feature > node.value;
    case BranchMode::kEqual:
      return feature == node.value;
    case BranchMode::kNotEqual:
      return feature != node.value;
    case BranchMode::kMember:
      return !std::isnan(feature) &&
             std::ranges::binary_search(ensemble.members[node.members], feature);
    case BranchMode::kLeaf:
      break;
  }
  return false;
}

double combined(Aggregate aggregate, double a, double b) noexcept {
  if (aggregate == Aggregate::kMin) return std::min(a, b);
  if (aggregate == Aggregate::kMax) return std::max(a, b);
  return a + b;
}

// Returns the number of branches that lead to each node.
std::vector<uint32_t> count_parents(const Ensemble& ensemble) {
  std::vector<uint32_t> parents(ensemble.nodes.size(), 0);
  for (const TreeNode& node : ensemble.nodes) {
    if (node.mode == BranchMode::kLeaf) continue;
    ++parents[node.if_true];
    ++parents[node.if_false];
  }
  return parents;
}

// Kahn's algorithm: removes nodes without remaining parents until none is left. Nodes on a cycle,
// and those below one, remain.
Status check_cycles(const Ensemble& ensemble) {
  std::vector<uint32_t> parents = count_parents(ensemble), free;
  for (uint32_t i = 0; i < parents.size(); ++i)
    if (parents[i] == 0) free.push_back(i);
  size_t taken = 0;
  while (!free.empty()) {
    const TreeNode& node = ensemble.nodes[free.back()];
    free.pop_back();
    ++taken;
    if (node.mode == BranchMode::kLeaf) continue;
    for (const uint32_t next : {node.if_true, node.if_false})
      if (--parents[next] == 0) free.push_back(next);
  }
  if (taken == parents.size()) return {};
  return invalid_argument("the branches of a tree lead back to a node above them");
}

}  // namespace

std::span<const LeafWeight> Ensemble::leaf_of(uint32_t root, const double* row) const noexcept {
  const TreeNode* node = &nodes[root];
  while (node->mode != BranchMode::kLeaf)
    node = &nodes[takes_first(*this, *node, row[node->feature]) ? node->if_true : node->if_false];
  return std::span(weights).subspan(node->if_true, node->if_false - node->if_true);
}

void sum_up(const Ensemble& ensemble, const double* row, Scores& scores) {
  std::ranges::fill(scores.values, 0);
  std::ranges::fill(scores.has_value, 0);
  for (const uint32_t root : ensemble.roots) {
    for (const LeafWeight& weight : ensemble.leaf_of(root, row)) {
      double& value = scores.values[weight.target];
      uint8_t& has_value = scores.has_value[weight.target];
      value = has_value != 0 ? combined(ensemble.aggregate, value, weight.value) : weight.value;
      has_value = 1;
    }
  }
  if (ensemble.aggregate != Aggregate::kAverage) return;
  for (double& value : scores.values) value /= static_cast<double>(ensemble.roots.size());
}

Status settle(Ensemble& ensemble) {
  for (const TreeNode& node : ensemble.nodes)
    if (node.mode != BranchMode::kLeaf)
      ensemble.features = std::max(ensemble.features, size_t{node.feature} + 1);
  return check_cycles(ensemble);
}

Result<std::vector<double>> base_values_of(const NodeView& node, size_t targets) {
  const auto* values = stated_numbers(node, "base_values");
  if (values == nullptr || values->empty()) return std::vector<double>();
  if (values->size() != targets)
    return invalid_argument(
        fmt::format("there are {} base_values for {} targets", values->size(), targets));
  return std::vector<double>(values->begin(), values->end());
}

}  // namespace millrace::fallback
