// Ensembles of decision trees (boosted trees, random forests), as flat arrays that are checked once
// when they are made.
//
// An Ensemble is immutable after that: many threads may evaluate it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "fallback/ml/post_transform.h"
#include "fallback/node_view.h"

namespace millrace::fallback {

// The condition under which a row takes the first branch of a node. The numbers are those of
// TreeEnsemble.
enum class BranchMode : uint8_t {
  kAtMost,
  kLess,
  kAtLeast,
  kGreater,
  kEqual,
  kNotEqual,
  kMember,
  kLeaf,
};

struct TreeNode {
  double value = 0;      // threshold with which the feature is compared
  uint32_t feature = 0;  // index of the feature
  BranchMode mode = BranchMode::kLeaf;
  bool missing_is_true = false;  // a feature that is NaN takes the first branch
  // The nodes of the two branches. For a leaf, the range of its weights.
  uint32_t if_true = 0, if_false = 0;
  uint32_t members = 0;  // kMember: index of the set
};

struct LeafWeight {
  uint32_t target = 0;
  double value = 0;
};

enum class Aggregate : uint8_t { kAverage, kSum, kMin, kMax };

struct Ensemble {
  std::vector<TreeNode> nodes;  // free of cycles
  std::vector<uint32_t> roots;
  std::vector<LeafWeight> weights;           // by leaf
  std::vector<std::vector<double>> members;  // ascending
  std::vector<double> base_values;           // none, or one per target
  size_t targets = 0, features = 0;          // features: the least number in a row
  Aggregate aggregate = Aggregate::kSum;
  PostTransform transform = PostTransform::kNone;

  // Walks from a root to the leaf of a row, and returns the weights of the leaf.
  std::span<const LeafWeight> leaf_of(uint32_t root, const double* row) const noexcept;
};

// The scores that the trees give to a row, before base values and the post-transform.
struct Scores {
  std::vector<double> values;      // by target; 0 if no leaf has a weight for it
  std::vector<uint8_t> has_value;  // by target: whether a leaf has a weight for it

  explicit Scores(size_t targets) : values(targets), has_value(targets) {}
};
// Evaluates all trees for a row and aggregates their weights. Requirements: `row` has at least
// Ensemble::features elements, `scores` an entry for each target.
void sum_up(const Ensemble& ensemble, const double* row, Scores& scores);

// Reads the nodes of a TreeEnsembleClassifier or TreeEnsembleRegressor, and the weights of the
// leaves, whose attributes begin with `prefix`: "class" or "target". kInvalidArgument: lists of
// different lengths; nodes, features or targets that do not exist; cycles.
Result<Ensemble> read_trees(const NodeView& node, const std::string& prefix, size_t targets);
// Reads a TreeEnsemble. Errors as for read_trees().
Result<Ensemble> read_tree_ensemble(const NodeView& node);

// The last step of both readers: determines the number of features, and refuses cycles.
Status settle(Ensemble& ensemble);
// Returns the attribute base_values for `targets` targets; empty if the node has none.
// kInvalidArgument: another number of values.
Result<std::vector<double>> base_values_of(const NodeView& node, size_t targets);

}  // namespace millrace::fallback
