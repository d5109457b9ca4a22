// Ensembles of decision trees, as flat arrays that are checked once.
//
// Immutable after it is made: many threads may evaluate it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "fallback/ml/post_transform.h"
#include "fallback/node_view.h"

namespace millrace::fallback {

// Whether a node's first branch is taken; as TreeEnsemble numbers them.
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
  double value = 0;      // threshold to compare the feature with
  uint32_t feature = 0;  // index of the feature
  BranchMode mode = BranchMode::kLeaf;
  bool missing_is_true = false;  // a feature that is NaN takes the first branch
  // The nodes of the two branches; of a leaf, the range of its weights.
  uint32_t if_true = 0, if_false = 0;
  uint32_t members = 0;  // kMember: which set
};

struct LeafWeight {
  uint32_t target = 0;
  double value = 0;
};

enum class Aggregate : uint8_t { kAverage, kSum, kMin, kMax };

struct Ensemble {
  std::vector<TreeNode> nodes;  // no path from a root meets a node twice
  std::vector<uint32_t> roots;
  std::vector<LeafWeight> weights;           // by leaf
  std::vector<std::vector<double>> members;  // ascending
  std::vector<double> base_values;           // none, or one per target
  size_t targets = 0, features = 0;          // features: how many a row must have at least
  Aggregate aggregate = Aggregate::kSum;
  PostTransform transform = PostTransform::kNone;

  std::span<const LeafWeight> leaf_of(uint32_t root, const double* row) const noexcept;
};

// The scores that the trees give to a row, before base values and transformation.
struct Scores {
  std::vector<double> values;      // by target; 0 where no leaf has one
  std::vector<uint8_t> has_value;  // whether a leaf has one

  explicit Scores(size_t targets) : values(targets), has_value(targets) {}
};
// Requirements: `row` has Ensemble::features elements, `scores` a place for each target.
void sum_up(const Ensemble& ensemble, const double* row, Scores& scores);

// The nodes of TreeEnsembleClassifier and TreeEnsembleRegressor with the weights of their leaves,
// whose attributes begin with `prefix`: class_ids or target_ids. kInvalidArgument: lists of
// different lengths, nodes, features or targets that do not exist, cycles.
Result<Ensemble> read_trees(const NodeView& node, const std::string& prefix, size_t targets);
// The whole of a TreeEnsemble.
Result<Ensemble> read_tree_ensemble(const NodeView& node);

// The shared end of both: the number of features, and that no path has a cycle.
Status settle(Ensemble& ensemble);
// As the attribute base_values states it for `targets` targets; none where it is absent.
Result<std::vector<double>> base_values_of(const NodeView& node, size_t targets);

}  // namespace millrace::fallback
