// Matches, backwards from the last node: (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon)
// (LayerNormalization) and x / sqrt(mean(x^2) + epsilon) (RMSNormalization), also with a reciprocal
// or a power of -0.5 instead of division and root, followed by Mul and Add with constants. Requires
// canonical arithmetic: powers and sums with a scalar are Unary (canonicalise_arithmetic).
#include <algorithm>
#include <cmath>

#include "fallback/operator_table.h"
#include "lowering/passes/constants.h"
#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::UnaryKind;
using graph::ValueId;

// source / sqrt(mean(source^2) + epsilon), with the mean over the dimensions from `axis` on. If
// `centred`, it is source - mean(source) instead of source.
struct Normalised {
  ValueId source = graph::kNoValue;
  size_t axis = 0;
  float epsilon = 0;
  bool centred = false;
};

// A mean over the dimensions from `axis` on, which are kept with size 1.
struct Mean {
  ValueId source = graph::kNoValue;
  size_t axis = 0;
};

// Matches how a value is computed. Intermediate values may have other readers.
class Matcher {
 public:
  explicit Matcher(Editor& editor) : editor_(editor) {}

  std::optional<Normalised> normalised(ValueId id) const {
    const auto quotient = operands_of(id, BinaryKind::kDiv);
    if (quotient) return normalised(quotient->first, deviation(quotient->second));
    const auto product = operands_of(id, BinaryKind::kMul);
    if (!product) return std::nullopt;
    const auto found = normalised(product->first, inverse_deviation(product->second));
    return found ? found : normalised(product->second, inverse_deviation(product->first));
  }

  std::optional<std::pair<ValueId, ValueId>> operands_of(ValueId id, BinaryKind kind) const {
    const auto* op = editor_.maker_as<graph::Binary>(id);
    if (op == nullptr || op->kind != kind) return std::nullopt;
    const auto& inputs = editor_.node(*editor_.maker(id)).inputs;
    return std::pair(inputs[0], inputs[1]);
  }

 private:
  struct Deviation {
    Mean mean_square;
    float epsilon = 0;
  };

  const graph::Activation* function_of(ValueId id) const {
    const auto* op = editor_.maker_as<graph::Unary>(id);
    return op != nullptr ? &op->function : nullptr;
  }
  ValueId operand_of(ValueId id) const { return editor_.node(*editor_.maker(id)).inputs[0]; }

  bool is_power(ValueId id, float exponent) const {
    const graph::Activation* function = function_of(id);
    return function != nullptr && function->kind == UnaryKind::kPow && function->alpha == exponent;
  }
  bool is_function(ValueId id, UnaryKind kind) const {
    const graph::Activation* function = function_of(id);
    return function != nullptr && function->kind == kind;
  }

  std::optional<Normalised> normalised(ValueId source,
                                       const std::optional<Deviation>& deviation) const {
    if (!deviation || deviation->mean_square.source != source) return std::nullopt;
    const size_t axis = deviation->mean_square.axis;
    if (const auto x = centred(source, axis)) return Normalised{*x, axis, deviation->epsilon, true};
    return Normalised{source, axis, deviation->epsilon, false};
  }

  // Matches x - mean(x), and returns x.
  std::optional<ValueId> centred(ValueId id, size_t axis) const {
    const auto difference = operands_of(id, BinaryKind::kSub);
    const auto mean = difference ? mean_of(difference->second) : std::nullopt;
    if (!mean || mean->source != difference->first || mean->axis != axis) return std::nullopt;
    return difference->first;
  }

  // Matches sqrt(mean(square) + epsilon).
  std::optional<Deviation> deviation(ValueId id) const {
    if (!is_function(id, UnaryKind::kSqrt) && !is_power(id, 0.5f)) return std::nullopt;
    return variance(operand_of(id));
  }

  std::optional<Deviation> inverse_deviation(ValueId id) const {
    if (is_power(id, -0.5f)) return variance(operand_of(id));
    if (is_function(id, UnaryKind::kReciprocal) || is_power(id, -1))
      return deviation(operand_of(id));
    return std::nullopt;
  }

  // Matches mean(source^2) + epsilon, and returns the source.
  std::optional<Deviation> variance(ValueId id) const {
    const graph::Activation* sum = function_of(id);
    const bool adds = sum != nullptr && sum->kind == UnaryKind::kLinear && sum->alpha == 1;
    if (!adds || !(sum->beta > 0) || !std::isfinite(sum->beta)) return std::nullopt;
    auto mean = mean_of(operand_of(id));
    const auto source = mean ? square_of(mean->source) : std::nullopt;
    if (!source) return std::nullopt;
    mean->source = *source;
    return Deviation{*mean, sum->beta};
  }

  std::optional<ValueId> square_of(ValueId id) const {
    if (is_power(id, 2)) return operand_of(id);
    const auto product = operands_of(id, BinaryKind::kMul);
    if (!product || product->first != product->second) return std::nullopt;
    return product->first;
  }

  std::optional<Mean> mean_of(ValueId id) const {
    const auto maker = editor_.maker(id);
    if (!maker) return std::nullopt;
    const graph::Node& node = editor_.node(*maker);
    if (const auto* pool = std::get_if<graph::GlobalPool>(&node.op)) {
      if (pool->kind != graph::PoolKind::kAverage) return std::nullopt;
      return Mean{node.inputs[0], 2};
    }
    const auto* reduce = std::get_if<graph::Reduce>(&node.op);
    if (reduce == nullptr || reduce->kind != graph::ReduceKind::kMean || !reduce->keep_dims ||
        reduce->axes.empty())
      return std::nullopt;
    const size_t rank = editor_.value(node.inputs[0]).shape.size();
    // Axes are ascending and distinct, so by their number they are all dimensions from the first
    // axis on.
    if (reduce->axes.size() != rank - static_cast<size_t>(reduce->axes.front()))
      return std::nullopt;
    return Mean{node.inputs[0], static_cast<size_t>(reduce->axes.front())};
  }

  Editor& editor_;
};

// A normalisation with the scale and shift that follow it, constants over the normalised
// dimensions; kNoValue if there is none.
struct Found {
  Normalised core;
  ValueId scale = graph::kNoValue, shift = graph::kNoValue;
};

class Recogniser {
 public:
  explicit Recogniser(Editor& editor) : editor_(editor), match_(editor) {}

  std::optional<Found> at(ValueId id) const {
    if (const auto sum = match_.operands_of(id, BinaryKind::kAdd)) {
      const auto found = shifted(sum->first, sum->second);
      return found ? found : shifted(sum->second, sum->first);
    }
    return scaled(id);
  }

 private:
  std::optional<Found> shifted(ValueId id, ValueId shift) const {
    auto found = scaled(id);
    if (!found || !found->core.centred || !applies(shift, found->core)) return std::nullopt;
    found->shift = shift;
    return found;
  }

  std::optional<Found> scaled(ValueId id) const {
    if (const auto core = match_.normalised(id)) return Found{*core};
    const auto product = match_.operands_of(id, BinaryKind::kMul);
    if (!product) return std::nullopt;
    const auto found = scaled_by(product->first, product->second);
    return found ? found : scaled_by(product->second, product->first);
  }

  std::optional<Found> scaled_by(ValueId id, ValueId scale) const {
    const auto core = match_.normalised(id);
    if (!core || !applies(scale, *core)) return std::nullopt;
    return Found{*core, scale};
  }

  // Whether a value is a FLOAT32 constant that broadcasts to the normalised dimensions and does not
  // vary along others.
  bool applies(ValueId id, const Normalised& core) const {
    const graph::Value& value = editor_.value(id);
    const Dims& shape = editor_.value(core.source).shape;
    // A constant of higher rank than the source would extend the shape of the result.
    if (!floats_of(value) || value.shape.size() > shape.size()) return false;
    for (size_t back = 0; back < value.shape.size(); ++back) {
      const int64_t dim = value.shape[value.shape.size() - 1 - back];
      if (dim == 1) continue;
      if (back >= shape.size() - core.axis || dim != shape[shape.size() - 1 - back]) return false;
    }
    return true;
  }

  Editor& editor_;
  Matcher match_;
};

// Returns the constant with at most `rank` dimensions: leading dimensions, which are 1, are
// dropped.
ValueId within_group(Editor& editor, ValueId id, size_t rank) {
  const graph::Value value = editor.value(id);
  if (value.shape.size() <= rank) return id;
  const Dims shape(value.shape.end() - static_cast<ptrdiff_t>(rank), value.shape.end());
  return editor.graph().add_constant(value.name + ".group", value.type, shape, *value.constant);
}

std::vector<ValueId> operands_for(Editor& editor, const Found& found, const std::string& name) {
  const Dims shape = editor.value(found.core.source).shape;
  const size_t rank = shape.size() - found.core.axis;
  // The operator requires a scale, so a missing one becomes 1.
  const ValueId scale = found.scale != graph::kNoValue
                            ? within_group(editor, found.scale, rank)
                            : add_floats(editor.graph(), name + ".scale", {1}, {1});
  std::vector<ValueId> operands = {found.core.source, scale};
  if (found.shift != graph::kNoValue) operands.push_back(within_group(editor, found.shift, rank));
  return operands;
}

}  // namespace

Status recognise_normalization(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  const Recogniser recogniser(editor);
  auto nodes = editor.nodes();
  // Backwards, so that a match with scale and shift is found before the match of its inner part.
  std::ranges::reverse(nodes);
  for (const Editor::Index index : nodes) {
    const auto found = recogniser.at(editor.node(index).outputs[0]);
    if (!found) continue;
    const char* const name = found->core.centred ? "LayerNormalization" : "RMSNormalization";
    if (fallback::find_operator(name) == nullptr) continue;
    editor.absorb_origins_since(index, found->core.source);
    std::vector<ValueId> operands = operands_for(editor, *found, editor.node(index).name);
    editor.node(index).op = graph::Fallback{
        name, {{"axis", static_cast<int64_t>(found->core.axis)}, {"epsilon", found->core.epsilon}}};
    editor.set_inputs(index, std::move(operands));
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
