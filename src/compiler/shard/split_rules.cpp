// One visitor maps a division of the result to the operands (OperandRules), and another one maps a
// division of an operand to the result (ResultRules). effect_of() requires that both agree.
#include "compiler/shard/split_rules.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace millrace::compiler {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Node;

using Splits = std::vector<Split>;

// A node with the shapes of its operands and of its result.
class Shapes {
 public:
  Shapes(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  size_t operands() const { return node_.inputs.size(); }
  bool has(size_t slot) const { return node_.input(slot) != graph::kNoValue; }
  const Dims& in(size_t slot) const { return graph_.values[node_.inputs[slot]].shape; }
  const Dims& out() const { return graph_.values[node_.outputs[0]].shape; }

  // Returns the dimension of an operand, broadcast as in numpy, that corresponds to `dimension` of
  // the result; nothing if the operand is repeated along it.
  Split broadcast(size_t slot, size_t dimension) const {
    if (!has(slot)) return std::nullopt;
    const size_t missing = out().size() - in(slot).size();
    if (dimension < missing || in(slot)[dimension - missing] == 1) return std::nullopt;
    return dimension - missing;
  }
  size_t to_result(size_t slot, size_t dimension) const {
    return dimension + out().size() - in(slot).size();
  }

 private:
  const Graph& graph_;
  const Node& node_;
};

// The dimensions of the operands of a product: rows of a, columns of b, and in each the dimension
// over which the product sums.
struct Product {
  size_t rows, sums_of_a, sums_of_b, columns;
};

std::optional<Product> product_of(const Shapes& shapes, const graph::MatMul& op) {
  const size_t a = shapes.in(0).size(), b = shapes.in(1).size();
  if (a < 2 || b < 2) return std::nullopt;
  return Product{op.transpose_a ? a - 1 : a - 2, op.transpose_a ? a - 2 : a - 1,
                 op.transpose_b ? b - 1 : b - 2, op.transpose_b ? b - 2 : b - 1};
}

// Returns the dimension of `to` that is divided into the same parts as `dimension` of `from`, if it
// is a multiple of the number of parts: the one with as many elements before it. If there are
// several such dimensions, all but the last have size 1.
Split reshaped(const Dims& from, size_t dimension, const Dims& to) {
  const auto before = [](const Dims& dims, size_t count) {
    int64_t product = 1;
    for (size_t i = 0; i < count; ++i) product *= dims[i];
    return product;
  };
  const int64_t outer = before(from, dimension);
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] != 1 && before(to, i) == outer) return i;
  return std::nullopt;
}

// Fallback operators that are elementwise.
constexpr std::string_view kElementwise[] = {"Add",
                                             "And",
                                             "Div",
                                             "Equal",
                                             "Gelu",
                                             "Greater",
                                             "GreaterOrEqual",
                                             "Less",
                                             "LessOrEqual",
                                             "Mul",
                                             "Not",
                                             "Or",
                                             "Sub",
                                             "Where",
                                             "com.microsoft.Gelu",
                                             "com.microsoft.QuickGelu"};

// Determines how the operands must be divided for a result that is divided along `dimension`.
class OperandRules {
 public:
  OperandRules(const Shapes& shapes, size_t dimension, uint32_t ranks)
      : shapes_(shapes), dimension_(dimension), ranks_(ranks) {}

  std::optional<Splits> operator()(const graph::MatMul& op) const {
    const auto product = product_of(shapes_, op);
    if (!product) return std::nullopt;
    const size_t rank = shapes_.out().size();
    Splits splits(shapes_.operands());
    if (dimension_ + 1 == rank) {
      splits[1] = product->columns;
    } else if (dimension_ + 2 == rank) {
      splits[0] = product->rows;
    } else {
      splits[0] = shapes_.broadcast(0, dimension_);
      splits[1] = shapes_.broadcast(1, dimension_);
    }
    if (splits.size() > 2) splits[2] = shapes_.broadcast(2, dimension_);
    return splits;
  }
  // A grouped convolution can be divided by groups: for example a scale and a shift for the scores
  // of each head.
  std::optional<Splits> operator()(const graph::Conv& op) const {
    if (dimension_ != 1 || op.group % ranks_ != 0) return std::nullopt;
    Splits splits(shapes_.operands());
    for (size_t slot = 0; slot < splits.size(); ++slot)
      if (shapes_.has(slot)) splits[slot] = slot == 0 || slot == 3 ? 1 : 0;
    return splits;
  }
  std::optional<Splits> operator()(const graph::Unary&) const { return elementwise(); }
  std::optional<Splits> operator()(const graph::Binary&) const { return elementwise(); }
  std::optional<Splits> operator()(const graph::Cast&) const { return elementwise(); }
  std::optional<Splits> operator()(const graph::Expand&) const { return elementwise(); }
  std::optional<Splits> operator()(const graph::Softmax& op) const {
    return unless(static_cast<size_t>(op.axis) == dimension_);
  }
  std::optional<Splits> operator()(const graph::Concat& op) const {
    return unless(static_cast<size_t>(op.axis) == dimension_);
  }
  std::optional<Splits> operator()(const graph::Slice& op) const {
    return unless(shapes_.in(0)[dimension_] != op.size[dimension_] || op.step[dimension_] != 1);
  }
  std::optional<Splits> operator()(const graph::Reshape&) const {
    const Split split = reshaped(shapes_.out(), dimension_, shapes_.in(0));
    if (!split || shapes_.in(0)[*split] % ranks_ != 0) return std::nullopt;
    return Splits{split};
  }
  std::optional<Splits> operator()(const graph::Transpose& op) const {
    return Splits{static_cast<size_t>(op.permutation[dimension_])};
  }
  std::optional<Splits> operator()(const graph::Gather& op) const {
    const auto axis = static_cast<size_t>(op.axis);
    const size_t indices = shapes_.in(1).size();
    if (dimension_ < axis) return Splits{dimension_, std::nullopt};
    if (dimension_ < axis + indices) return Splits{std::nullopt, dimension_ - axis};
    return Splits{dimension_ + 1 - indices, std::nullopt};
  }
  std::optional<Splits> operator()(const graph::Fallback& op) const {
    if (op.name == "millrace.CachedAttention") return cached_attention();
    if (std::ranges::find(kElementwise, op.name) == std::end(kElementwise)) return std::nullopt;
    return elementwise();
  }
  template <class Op>
  std::optional<Splits> operator()(const Op&) const {
    return std::nullopt;
  }

 private:
  Splits elementwise() const {
    Splits splits;
    for (size_t slot = 0; slot < shapes_.operands(); ++slot)
      splits.push_back(shapes_.broadcast(slot, dimension_));
    return splits;
  }
  // The operands are query, keys, values, lengths and perhaps sinks. Heads can be divided with the
  // heads of keys that they share, or where all share one; sequences with all that belongs to them.
  std::optional<Splits> cached_attention() const {
    const int64_t key_heads = shapes_.in(1)[1];
    Splits splits;
    if (dimension_ == 0) {
      splits = {0, 0, 0, 0, std::nullopt};
    } else if (dimension_ == 1 && key_heads % ranks_ == 0) {
      splits = {1, 1, 1, std::nullopt, 0};
    } else if (dimension_ == 1 && key_heads == 1) {
      splits = {1, std::nullopt, std::nullopt, std::nullopt, 0};
    } else {
      return std::nullopt;
    }
    splits.resize(shapes_.operands());
    return splits;
  }
  std::optional<Splits> unless(bool refused) const {
    if (refused) return std::nullopt;
    return Splits(shapes_.operands(), dimension_);
  }

  const Shapes& shapes_;
  const size_t dimension_;
  const uint32_t ranks_;
};

// Determines the dimension of the result that corresponds to `dimension` of the operand `slot`.
class ResultRules {
 public:
  ResultRules(const Shapes& shapes, size_t slot, size_t dimension)
      : shapes_(shapes), slot_(slot), dimension_(dimension) {}

  std::optional<Effect> operator()(const graph::MatMul& op) const {
    const auto product = product_of(shapes_, op);
    if (!product) return std::nullopt;
    const size_t rank = shapes_.out().size();
    const auto [rows, sums_of_a, sums_of_b, columns] = *product;
    if (slot_ == 2) return aligned();
    if (dimension_ == (slot_ == 0 ? sums_of_a : sums_of_b)) return Effect{std::nullopt, true};
    if (slot_ == 0 && dimension_ == rows) return Effect{rank - 2};
    if (slot_ == 1 && dimension_ == columns) return Effect{rank - 1};
    return aligned();
  }
  std::optional<Effect> operator()(const graph::Reshape&) const {
    const Split split = reshaped(shapes_.in(0), dimension_, shapes_.out());
    if (!split) return std::nullopt;
    return Effect{split};
  }
  std::optional<Effect> operator()(const graph::Transpose& op) const {
    const auto at = std::ranges::find(op.permutation, static_cast<int64_t>(dimension_));
    return Effect{static_cast<size_t>(at - op.permutation.begin())};
  }
  std::optional<Effect> operator()(const graph::Gather& op) const {
    const auto axis = static_cast<size_t>(op.axis);
    if (slot_ == 1) return Effect{axis + dimension_};
    if (dimension_ == axis) return std::nullopt;
    return Effect{dimension_ < axis ? dimension_ : dimension_ + shapes_.in(1).size() - 1};
  }
  // For all other operators, effect_of() asks OperandRules whether they allow the division.
  template <class Op>
  std::optional<Effect> operator()(const Op&) const {
    if (shapes_.in(slot_).size() > shapes_.out().size()) return std::nullopt;
    return aligned();
  }

 private:
  std::optional<Effect> aligned() const { return Effect{shapes_.to_result(slot_, dimension_)}; }

  const Shapes& shapes_;
  const size_t slot_, dimension_;
};

}  // namespace

std::optional<std::vector<Split>> operand_splits(const Graph& graph, const Node& node,
                                                 size_t dimension, uint32_t ranks) {
  const Shapes shapes(graph, node);
  return std::visit(OperandRules(shapes, dimension, ranks), node.op);
}

std::optional<Effect> effect_of(const Graph& graph, const Node& node, size_t slot, size_t dimension,
                                uint32_t ranks) {
  const Shapes shapes(graph, node);
  const auto effect = std::visit(ResultRules(shapes, slot, dimension), node.op);
  if (!effect || effect->is_partial) return effect;
  const auto operands = operand_splits(graph, node, *effect->result, ranks);
  if (!operands || (*operands)[slot] != dimension) return std::nullopt;
  return effect;
}

std::vector<Split> operands_of_partial_sums(const Graph& graph, const Node& node) {
  const Shapes shapes(graph, node);
  const auto product = product_of(shapes, std::get<graph::MatMul>(node.op));
  Splits splits(node.inputs.size());
  splits[0] = product->sums_of_a;
  splits[1] = product->sums_of_b;
  return splits;
}

}  // namespace millrace::compiler
