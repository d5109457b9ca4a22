// Works on canonical arithmetic: a product with a number is Unary (canonicalise_arithmetic).
#include <algorithm>
#include <numeric>
#include <utility>

#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::kNoValue;
using graph::UnaryKind;
using graph::ValueId;
using Index = Editor::Index;

// scale query keys + bias, where `keys` has a column for each key.
struct Scores {
  ValueId query = kNoValue, keys = kNoValue, bias = kNoValue;
  float scale = 1;
};

class Recogniser {
 public:
  Recogniser(Editor& editor, const PassContext& context) : editor_(editor), context_(context) {}

  // Makes the node attention where it is the product that ends one.
  void visit(Index index) {
    parts_.clear();
    if (!is_plain_product(index)) return;
    const ValueId weights = editor_.node(index).inputs[0], value = editor_.node(index).inputs[1];
    const auto scores = scores_below(weights);
    if (!scores || !fit_each_other(*scores, value)) return;
    parts_.push_back(index);
    if (std::ranges::any_of(parts_, [&](Index part) { return has_place_of_its_own(part); })) return;
    replace(index, *scores, value);
  }

 private:
  // a b, without anything that attention does not have.
  bool is_plain_product(Index index) const {
    const graph::Node& node = editor_.node(index);
    const auto* op = std::get_if<graph::MatMul>(&node.op);
    return op != nullptr && *op == graph::MatMul{} && node.input(2) == kNoValue;
  }

  // A node that was named to be computed elsewhere, or otherwise, than those around it.
  bool has_place_of_its_own(Index index) const {
    const graph::Node& node = editor_.node(index);
    return !matching_names(node, context_.cpu_operators).empty() ||
           !matching_names(node, context_.full_precision).empty();
  }

  // The maker of what nothing else reads, an Op, which becomes a part of the attention.
  template <class Op>
  const graph::Node* take(ValueId id) {
    if (!editor_.has_single_reader(id) || editor_.maker_as<Op>(id) == nullptr) return nullptr;
    parts_.push_back(*editor_.maker(id));
    return &editor_.node(parts_.back());
  }

  std::optional<Scores> scores_below(ValueId weights) {
    const graph::Node* softmax = take<graph::Softmax>(weights);
    if (softmax == nullptr) return std::nullopt;
    const auto last = static_cast<int64_t>(editor_.value(weights).shape.size()) - 1;
    if (std::get<graph::Softmax>(softmax->op) != graph::Softmax{last, false}) return std::nullopt;
    return biased_scores(softmax->inputs[0]);
  }

  std::optional<Scores> biased_scores(ValueId id) {
    const auto* op = editor_.maker_as<graph::Binary>(id);
    if (op == nullptr || op->kind != BinaryKind::kAdd) return product_below(id);
    const graph::Node* sum = take<graph::Binary>(id);
    if (sum == nullptr) return std::nullopt;
    for (const size_t slot : {0, 1}) {
      const ValueId term = sum->inputs[slot];
      if (editor_.value(term).shape != editor_.value(id).shape) continue;
      const size_t taken = parts_.size();
      if (auto scores = product_below(term)) {
        scores->bias = sum->inputs[1 - slot];
        return scores;
      }
      parts_.resize(taken);
    }
    return std::nullopt;
  }

  std::optional<Scores> product_below(ValueId id) {
    Scores scores;
    while (const auto factor = factor_of(id)) {
      const graph::Node* scaled = take<graph::Unary>(id);
      if (scaled == nullptr) return std::nullopt;
      scores.scale *= *factor;
      id = scaled->inputs[0];
    }
    const graph::Node* product = take<graph::MatMul>(id);
    if (product == nullptr || product->input(2) != kNoValue) return std::nullopt;
    auto op = std::get<graph::MatMul>(product->op);
    scores.scale *= std::exchange(op.alpha, 1);
    scores.query = unscaled(product->inputs[0], scores.scale);
    scores.keys = unscaled(product->inputs[1], scores.scale);
    keys_are_rows_ = std::exchange(op.transpose_b, false);
    if (op != graph::MatMul{}) return std::nullopt;
    return scores;
  }

  // The number by which the maker of the value multiplies.
  std::optional<float> factor_of(ValueId id) const {
    const auto* op = editor_.maker_as<graph::Unary>(id);
    const bool scales =
        op != nullptr && op->function.kind == UnaryKind::kLinear && op->function.beta == 0;
    return scales ? std::optional(op->function.alpha) : std::nullopt;
  }

  // Exporters of PyTorch scale query and keys each by the root of the scale.
  ValueId unscaled(ValueId id, float& scale) {
    const auto factor = factor_of(id);
    if (!factor) return id;
    scale *= *factor;
    parts_.push_back(*editor_.maker(id));
    return editor_.node(*editor_.maker(id)).inputs[0];
  }

  bool is_real(ValueId id) const {
    const graph::Value& value = editor_.value(id);
    return value.type == tensor::DataType::kFloat32 && !value.quantisation && value.elements() > 0;
  }

  // Leading dimensions that are not broadcast.
  bool fit_each_other(const Scores& scores, ValueId value) const {
    const Dims& query = editor_.value(scores.query).shape;
    if (query.size() < 2) return false;
    for (const ValueId id : {scores.query, scores.keys, value}) {
      const Dims& shape = editor_.value(id).shape;
      if (!is_real(id) || shape.size() != query.size() ||
          !std::equal(shape.begin(), shape.end() - 2, query.begin()))
        return false;
    }
    return scores.bias == kNoValue || is_real(scores.bias);
  }

  // The keys, a row for each. Their Transpose, if there is one, is merged with this one.
  ValueId keys_in_rows(Index index, ValueId keys) {
    if (keys_are_rows_) return keys;
    Dims permutation(editor_.value(keys).shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    if (const auto* before = editor_.maker_as<graph::Transpose>(keys)) {
      permutation = before->permutation;
      keys = editor_.node(*editor_.maker(keys)).inputs[0];
    }
    std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
    if (std::ranges::is_sorted(permutation)) return keys;
    graph::Value rows = editor_.value(keys);
    rows.name = editor_.node(index).name + ".keys";
    rows.constant.reset();
    for (size_t i = 0; i < permutation.size(); ++i)
      rows.shape[i] = editor_.value(keys).shape[static_cast<size_t>(permutation[i])];
    const std::string name = rows.name;
    const ValueId id = editor_.graph().add_value(std::move(rows));
    editor_.insert_before(index, {name, graph::Transpose{std::move(permutation)}, {keys}, {id}});
    return id;
  }

  void replace(Index index, const Scores& scores, ValueId value) {
    for (const Index part : parts_) editor_.absorb_origins(index, part);
    const ValueId keys = keys_in_rows(index, scores.keys);
    std::vector<ValueId> operands = {scores.query, keys, value};
    if (scores.bias != kNoValue) operands.push_back(scores.bias);
    editor_.node(index).op = graph::Fallback{"millrace.Attention", {{"scale", scores.scale}}};
    editor_.set_inputs(index, std::move(operands));
  }

  Editor& editor_;
  const PassContext& context_;
  std::vector<Index> parts_;  // of what is recognised now
  bool keys_are_rows_ = false;
};

}  // namespace

Status recognise_attention(graph::Graph& graph, const PassContext& context) {
  // The products of a BF16 program are made of BF16, which the operator's kernel does not do.
  if (context.attention_in_parts || context.precision == graph::Precision::kBf16) return {};
  Editor editor(graph);
  Recogniser recogniser(editor, context);
  for (const Index index : editor.nodes()) recogniser.visit(index);
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
