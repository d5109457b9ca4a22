// Works on canonical arithmetic: a product with a number is Unary (canonicalise_arithmetic).
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

// scale query keys + terms, where `keys` has a column for each key.
struct Scores {
  ValueId query = kNoValue, keys = kNoValue;
  std::vector<ValueId> terms = {};
  float scale = 1;
};

// Positions relative to each other, a mask of the file's and one of the caller's.
constexpr size_t kMostTerms = 3;

// Scores are lost in the rounding where so low a number is added to them.
constexpr float kAbsorbs = -1e30f;

class Recogniser {
 public:
  Recogniser(Editor& editor, const PassContext& context) : editor_(editor), context_(context) {}

  // Makes the node attention where it is the product that ends one.
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
    return biased_scores(softmax->inputs[0], kMostTerms);
  }

  // Scores to which up to `left` terms are added.
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

  // Scores with a number in place of those that a mask leaves out.
  std::optional<Scores> masked_scores(ValueId id, size_t left) {
    const graph::Node* choice = take<graph::Fallback>(id);
    if (choice == nullptr) return std::nullopt;
    const std::vector<ValueId> operands = choice->inputs;
    for (const size_t kept : {1, 2}) {
      const auto number = scalar_of(editor_.value(operands[3 - kept]));
      if (!number || editor_.value(operands[kept]).shape != editor_.value(id).shape) continue;
      if (!can_be_added(*number, operands[0], kept == 1, id)) return std::nullopt;
      // A sum above may leave out the only keys of a row that the mask keeps.
      if (*number > kAbsorbs && left != kMostTerms) return std::nullopt;
      const size_t taken = parts_.size();
      if (auto scores = biased_scores(operands[kept], left - 1)) {
        // A finite number would be added to other terms, instead of replacing them: two masks
        // together would leave out a key with -inf, and make a row without keys NaN.
        if (!scores->terms.empty() && std::isfinite(*number)) return refuse();
        scores->terms.push_back(term_of_mask(operands[0], kept == 1, *number));
        return scores;
      }
      parts_.resize(taken);
    }
    return std::nullopt;
  }

  // Discards the terms that the chain below has added, since it is no part of the attention.
  std::optional<Scores> refuse() {
    added_.clear();
    return std::nullopt;
  }

  // Whether it is the same to add the number to a score as to put it in its place. It is where the
  // sum rounds to the number, and where both leave the key no weight beside another of its row.
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

  // 0 for the scores that the mask keeps, the number for the others.
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
    return std::ranges::all_of(scores.terms, [this](ValueId id) { return is_real(id); });
  }

  // Whether adding the terms to each other costs little beside adding them to the scores.
  bool is_cheap_sum(const std::vector<ValueId>& terms, ValueId scores) const {
    const auto is_constant = [this](ValueId id) { return editor_.value(id).constant.has_value(); };
    if (terms.size() < 2 || std::ranges::all_of(terms, is_constant)) return true;
    graph::Value sum;
    for (const ValueId id : terms) {
      const auto shape = graph::broadcast(sum.shape, editor_.value(id).shape);
      if (!shape.ok()) return false;
      sum.shape = *shape;
    }
    constexpr size_t kLittle = 4;
    return sum.elements() <= editor_.value(scores).elements() / kLittle;
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

  // The sum of all terms.
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
  std::vector<Index> parts_;        // nodes of the pattern that is matched now
  std::vector<graph::Node> added_;  // nodes that make its terms
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
