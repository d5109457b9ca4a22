// Matches softmax(scale * Q K^T + terms) V backwards from the last MatMul. The scale may be a
// factor of the product, or of Q and K each; terms are added masks and biases, or masks that Where
// applies with a large negative value. It becomes one node, to which the scale is an attribute and
// the sum of the terms an operand. Requires canonical arithmetic: a product with a scalar is a
// Unary kLinear (canonicalise_arithmetic).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "graph/shape.h"
#include "lowering/passes/constants.h"
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

// scale * query * keys + terms. `keys` has a column for each key, or a row, if keys_are_rows_.
struct Scores {
  ValueId query = kNoValue, keys = kNoValue;
  std::vector<ValueId> terms = {};
  float scale = 1;
};

// The most terms: for instance a relative position bias, a constant mask and a mask of the caller.
constexpr size_t kMostTerms = 3;

// A number so low that adding it to a score rounds to the number itself.
constexpr float kAbsorbs = -1e30f;

class Recogniser {
 public:
  Recogniser(Editor& editor, const PassContext& context) : editor_(editor), context_(context) {}

  // Turns the node into attention if it is the last product of one.
  void visit(Index index) {
    parts_.clear();
    added_.clear();
    if (!is_plain_product(index)) return;
    const ValueId weights = editor_.node(index).inputs[0], value = editor_.node(index).inputs[1];
    const auto scores = scores_below(weights);
    if (!scores || !fit_each_other(*scores, value) || !is_cheap_sum(scores->terms, weights)) return;
    parts_.push_back(index);
    if (std::ranges::any_of(parts_, [&](Index part) { return has_place_of_its_own(part); })) return;
    replace(index, *scores, value);
  }

 private:
  // Whether the node is a plain matrix product: without transposition, alpha, activation and bias.
  bool is_plain_product(Index index) const {
    const graph::Node& node = editor_.node(index);
    const auto* op = std::get_if<graph::MatMul>(&node.op);
    return op != nullptr && *op == graph::MatMul{} && node.input(2) == kNoValue;
  }

  // Whether the caller named the node to be computed on the CPU or in FP32, unlike those around it.
  bool has_place_of_its_own(Index index) const {
    const graph::Node& node = editor_.node(index);
    return !matching_names(node, context_.cpu_operators).empty() ||
           !matching_names(node, context_.full_precision).empty();
  }

  // Returns the node that makes the value, if it is an Op and its result has a single reader, and
  // adds it to the parts of the attention; null otherwise.
  template <class Op>
  const graph::Node* take(ValueId id) {
    if (!editor_.has_single_reader(id) || editor_.maker_as<Op>(id) == nullptr) return nullptr;
    parts_.push_back(*editor_.maker(id));
    return &editor_.node(parts_.back());
  }

  // Matches a Softmax along the last dimension, and the scores that it reads.
  std::optional<Scores> scores_below(ValueId weights) {
    const graph::Node* softmax = take<graph::Softmax>(weights);
    if (softmax == nullptr) return std::nullopt;
    const auto last = static_cast<int64_t>(editor_.value(weights).shape.size()) - 1;
    if (std::get<graph::Softmax>(softmax->op) != graph::Softmax{last, false}) return std::nullopt;
    return biased_scores(softmax->inputs[0], kMostTerms);
  }

  // Matches scores to which at most `left` terms are added.
  std::optional<Scores> biased_scores(ValueId id, size_t left) {
    if (left > 0 && is_choice(id)) return masked_scores(id, left);
    const auto* op = editor_.maker_as<graph::Binary>(id);
    if (left == 0 || op == nullptr || op->kind != BinaryKind::kAdd) return product_below(id);
    const graph::Node* sum = take<graph::Binary>(id);
    if (sum == nullptr) return std::nullopt;
    const std::vector<ValueId> operands = sum->inputs;
    for (const size_t slot : {0, 1}) {
      const ValueId term = operands[slot];
      if (editor_.value(term).shape != editor_.value(id).shape) continue;
      const size_t taken = parts_.size();
      if (auto scores = biased_scores(term, left - 1)) {
        scores->terms.push_back(operands[1 - slot]);
        return scores;
      }
      parts_.resize(taken);
    }
    return std::nullopt;
  }

  bool is_choice(ValueId id) const {
    const auto* op = editor_.maker_as<graph::Fallback>(id);
    return op != nullptr && op->name == "Where";
  }

  // Matches a Where that replaces the scores which a mask excludes by a number.
  std::optional<Scores> masked_scores(ValueId id, size_t left) {
    const graph::Node* choice = take<graph::Fallback>(id);
    if (choice == nullptr) return std::nullopt;
    const std::vector<ValueId> operands = choice->inputs;
    for (const size_t kept : {1, 2}) {
      const auto number = scalar_of(editor_.value(operands[3 - kept]));
      if (!number || editor_.value(operands[kept]).shape != editor_.value(id).shape) continue;
      if (!can_be_added(*number, operands[0], kept == 1, id)) return std::nullopt;
      // A term that is added after the Where may exclude the only keys of a row that this mask
      // keeps.
      if (*number > kAbsorbs && left != kMostTerms) return std::nullopt;
      const size_t taken = parts_.size();
      if (auto scores = biased_scores(operands[kept], left - 1)) {
        // A finite number would be added to the other terms instead of replacing them. The sum of
        // two such numbers may be -inf, and a row of -inf alone makes the Softmax NaN.
        if (!scores->terms.empty() && std::isfinite(*number)) return refuse();
        scores->terms.push_back(term_of_mask(operands[0], kept == 1, *number));
        return scores;
      }
      parts_.resize(taken);
    }
    return std::nullopt;
  }

  // Fails the match, and discards the nodes that were to make its terms.
  std::optional<Scores> refuse() {
    added_.clear();
    return std::nullopt;
  }

  // Whether adding the number to a score has the same effect as replacing the score by it. That is
  // true if the sum rounds to the number; or if the key gets a weight of 0 either way, for which
  // its row must have a key that the constant mask keeps.
  bool can_be_added(float number, ValueId mask, bool kept, ValueId scores) const {
    constexpr float kLeavesNoWeight = -1e4f;
    if (number <= kAbsorbs) return true;
    if (number > kLeavesNoWeight) return false;
    const graph::Value& value = editor_.value(mask);
    if (!value.constant || value.shape.empty() ||
        value.shape.back() != editor_.value(scores).shape.back())
      return false;
    const auto keys = static_cast<size_t>(value.shape.back());
    const std::span<const uint8_t> elements = value.constant->as<uint8_t>();
    for (size_t row = 0; row < elements.size(); row += keys)
      if (std::ranges::none_of(elements.subspan(row, keys),
                               [&](uint8_t element) { return (element != 0) == kept; }))
        return false;
    return true;
  }

  // Returns a term that is 0 for the scores that the mask keeps, and the number for the others.
  ValueId term_of_mask(ValueId mask, bool kept, float number) {
    graph::Graph& graph = editor_.graph();
    const Dims shape = editor_.value(mask).shape;
    const std::string name = editor_.value(mask).name + ".bias";
    if (editor_.value(mask).constant) {
      std::vector<float> term;
      for (const uint8_t element : editor_.value(mask).constant->as<uint8_t>())
        term.push_back((element != 0) == kept ? 0.0f : number);
      return add_floats(graph, name, shape, term);
    }
    const ValueId none = add_floats(graph, name + ".none", {}, {0.0f});
    const ValueId all = add_floats(graph, name + ".number", {}, {number});
    const ValueId id = graph.add_value({name, tensor::DataType::kFloat32, shape, std::nullopt});
    added_.push_back(
        {name, graph::Fallback{"Where", {}}, {mask, kept ? none : all, kept ? all : none}, {id}});
    return id;
  }

  // Matches scale * query * keys.
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

  // The scalar by which the maker of the value multiplies its operand; nothing for other makers.
  std::optional<float> factor_of(ValueId id) const {
    const auto* op = editor_.maker_as<graph::Unary>(id);
    const bool scales =
        op != nullptr && op->function.kind == UnaryKind::kLinear && op->function.beta == 0;
    return scales ? std::optional(op->function.alpha) : std::nullopt;
  }

  // Removes the scaling of query or keys, and multiplies `scale` by it: PyTorch's exporter
  // multiplies each by the root of the scale.
  ValueId unscaled(ValueId id, float& scale) {
    const auto factor = factor_of(id);
    if (!factor) return id;
    scale *= *factor;
    parts_.push_back(*editor_.maker(id));
    return editor_.node(*editor_.maker(id)).inputs[0];
  }

  // Whether the value is FLOAT32, not quantised and not empty.
  bool is_real(ValueId id) const {
    const graph::Value& value = editor_.value(id);
    return value.type == tensor::DataType::kFloat32 && !value.quantisation && value.elements() > 0;
  }

  // Whether query, keys and value have the same leading dimensions, since the operator does not
  // broadcast these, and all operands are real.
  bool fit_each_other(const Scores& scores, ValueId value) const {
    const Dims& query = editor_.value(scores.query).shape;
    if (query.size() < 2) return false;
    for (const ValueId id : {scores.query, scores.keys, value}) {
      const Dims& shape = editor_.value(id).shape;
      if (!is_real(id) || shape.size() != query.size() ||
          !std::equal(shape.begin(), shape.end() - 2, query.begin()))
        return false;
    }
    return std::ranges::all_of(scores.terms, [this](ValueId id) { return is_real(id); });
  }

  // Whether the terms can be added to each other first at little cost compared with adding each to
  // the scores.
  bool is_cheap_sum(const std::vector<ValueId>& terms, ValueId scores) const {
    const auto is_constant = [this](ValueId id) { return editor_.value(id).constant.has_value(); };
    if (terms.size() < 2 || std::ranges::all_of(terms, is_constant)) return true;
    graph::Value sum;
    for (const ValueId id : terms) {
      const auto shape = graph::broadcast(sum.shape, editor_.value(id).shape);
      if (!shape.ok()) return false;
      sum.shape = *shape;
    }
    constexpr size_t kLittle = 4;  // the scores have at least four times as many elements
    return sum.elements() <= editor_.value(scores).elements() / kLittle;
  }

  // Returns the keys with a row for each key. A Transpose is inserted if they are columns; it is
  // merged with the Transpose before it, if there is one, and vanishes if that undoes it.
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

  // Returns the sum of all terms, and inserts the nodes that compute it.
  ValueId bias_of(Index index, const std::vector<ValueId>& terms) {
    ValueId bias = terms[0];
    for (size_t i = 1; i < terms.size(); ++i) {
      const auto shape = graph::broadcast(editor_.value(bias).shape, editor_.value(terms[i]).shape);
      const std::string name = fmt::format("{}.bias{}", editor_.node(index).name, i);
      const ValueId sum = editor_.graph().add_value(
          {name, tensor::DataType::kFloat32, shape.ok() ? *shape : Dims(), std::nullopt});
      editor_.insert_before(index,
                            {name, graph::Binary{BinaryKind::kAdd}, {bias, terms[i]}, {sum}});
      bias = sum;
    }
    return bias;
  }

  void replace(Index index, const Scores& scores, ValueId value) {
    for (const Index part : parts_) editor_.absorb_origins(index, part);
    const ValueId keys = keys_in_rows(index, scores.keys);
    for (graph::Node& node : added_) editor_.insert_before(index, std::move(node));
    std::vector<ValueId> operands = {scores.query, keys, value};
    if (!scores.terms.empty()) operands.push_back(bias_of(index, scores.terms));
    editor_.node(index).op = graph::Fallback{"millrace.Attention", {{"scale", scores.scale}}};
    editor_.set_inputs(index, std::move(operands));
  }

  Editor& editor_;
  const PassContext& context_;
  std::vector<Index> parts_;        // nodes of the pattern that is being matched
  std::vector<graph::Node> added_;  // nodes to be inserted, which make its terms
  bool keys_are_rows_ = false;      // whether the first product transposes the keys
};

}  // namespace

Status recognise_attention(graph::Graph& graph, const PassContext& context) {
  // In a BF16 program matrix products have BF16 operands, which the kernel of the operator does not
  // support.
  if (context.attention_in_parts || context.precision == graph::Precision::kBf16) return {};
  Editor editor(graph);
  Recogniser recogniser(editor, context);
  for (const Index index : editor.nodes()) recogniser.visit(index);
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
