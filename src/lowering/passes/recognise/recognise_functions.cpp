// Matches, backwards from their last node: x * sigmoid(x) (Swish), min(max(x + 3, 0), 6) / 6
// (HardSigmoid), x times that (HardSwish), and x / 2 * (1 + erf(x / sqrt(2))) (Gelu), in the orders
// of factors that exporters write. Requires canonical arithmetic: products and sums with a scalar
// are Unary kLinear (canonicalise_arithmetic).
#include <cmath>

#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Activation;
using graph::UnaryKind;
using graph::ValueId;

bool close(float a, double b) {
  return std::abs(a - b) <= 1e-5 * std::max(1.0, std::abs(b));
}

bool is(const Activation& function, UnaryKind kind, double alpha, double beta) {
  return function.kind == kind && close(function.alpha, alpha) && close(function.beta, beta);
}

// Matches how a value is computed. Intermediate values may have other readers, since the
// recognised function reads the source directly.
class Matcher {
 public:
  explicit Matcher(Editor& editor) : editor_(editor) {}

  // Returns the operand of the Unary that makes the value, if it is of this kind (and has these
  // parameters).
  std::optional<ValueId> source(ValueId id, UnaryKind kind) const {
    const auto* op = editor_.maker_as<graph::Unary>(id);
    if (op == nullptr || op->function.kind != kind) return std::nullopt;
    return editor_.node(*editor_.maker(id)).inputs[0];
  }
  std::optional<ValueId> source(ValueId id, UnaryKind kind, double alpha, double beta) const {
    const auto* op = editor_.maker_as<graph::Unary>(id);
    if (op == nullptr || !is(op->function, kind, alpha, beta)) return std::nullopt;
    return editor_.node(*editor_.maker(id)).inputs[0];
  }

  // Matches min(max(x + 3, 0), 6), which is 6 * HardSigmoid(x), and returns x.
  std::optional<ValueId> relu6_of_x_plus_3(ValueId id) const {
    const auto sum = source(id, UnaryKind::kClip, 0, 6);
    return sum ? source(*sum, UnaryKind::kLinear, 1, 3) : std::nullopt;
  }

  // Matches 1 + erf(x / sqrt(2)), and returns x.
  std::optional<ValueId> one_plus_erf(ValueId id) const {
    const auto erf = source(id, UnaryKind::kLinear, 1, 1);
    const auto scaled = erf ? source(*erf, UnaryKind::kErf) : std::nullopt;
    return scaled ? source(*scaled, UnaryKind::kLinear, std::sqrt(0.5), 0) : std::nullopt;
  }

  // Returns the two operands of a Mul.
  std::optional<std::pair<ValueId, ValueId>> factors(ValueId id) const {
    const auto* op = editor_.maker_as<graph::Binary>(id);
    if (op == nullptr || op->kind != graph::BinaryKind::kMul) return std::nullopt;
    const auto& inputs = editor_.node(*editor_.maker(id)).inputs;
    return std::pair(inputs[0], inputs[1]);
  }

 private:
  Editor& editor_;
};

struct Found {
  UnaryKind kind;
  ValueId source;
};

// Matches x * other as one function of x (or of the operand of x).
std::optional<Found> match_product(const Matcher& match, ValueId x, ValueId other) {
  if (match.source(other, UnaryKind::kSigmoid) == x) return Found{UnaryKind::kSwish, x};
  if (match.source(other, UnaryKind::kHardSigmoid, 1.0 / 6, 0.5) == x) {
    return Found{UnaryKind::kHardSwish, x};
  }
  // (x / 2) * (1 + erf(x / sqrt(2)))
  const auto half = match.source(x, UnaryKind::kLinear, 0.5, 0);
  if (half && match.one_plus_erf(other) == half) return Found{UnaryKind::kGelu, *half};
  // x * ((1 + erf(x / sqrt(2))) / 2), with the two Linears merged
  if (const auto erf = match.source(other, UnaryKind::kLinear, 0.5, 0.5)) {
    const auto scaled = match.source(*erf, UnaryKind::kErf);
    if (scaled && match.source(*scaled, UnaryKind::kLinear, std::sqrt(0.5), 0) == x) {
      return Found{UnaryKind::kGelu, x};
    }
  }
  return std::nullopt;
}

// Matches scale * product, where the product is x times a function of x.
std::optional<Found> match_scaled_product(const Matcher& match, const Activation& scale,
                                          ValueId product) {
  const auto factors = match.factors(product);
  if (!factors) return std::nullopt;
  for (const auto& [x, other] : {*factors, std::pair(factors->second, factors->first)}) {
    if (is(scale, UnaryKind::kLinear, 1.0 / 6, 0) && match.relu6_of_x_plus_3(other) == x) {
      return Found{UnaryKind::kHardSwish, x};
    }
    if (is(scale, UnaryKind::kLinear, 0.5, 0) && match.one_plus_erf(other) == x) {
      return Found{UnaryKind::kGelu, x};
    }
  }
  return std::nullopt;
}

std::optional<Found> match_node(const Matcher& match, const graph::Node& node) {
  if (const auto* op = std::get_if<graph::Binary>(&node.op)) {
    if (op->kind != graph::BinaryKind::kMul) return std::nullopt;
    const auto found = match_product(match, node.inputs[0], node.inputs[1]);
    return found ? found : match_product(match, node.inputs[1], node.inputs[0]);
  }
  const auto* op = std::get_if<graph::Unary>(&node.op);
  if (op == nullptr) return std::nullopt;
  if (is(op->function, UnaryKind::kLinear, 1.0 / 6, 0)) {
    if (const auto x = match.relu6_of_x_plus_3(node.inputs[0])) {
      return Found{UnaryKind::kHardSigmoid, *x};
    }
  }
  return match_scaled_product(match, op->function, node.inputs[0]);
}

Activation function_of(UnaryKind kind) {
  if (kind == UnaryKind::kHardSigmoid) return {kind, 1.0f / 6, 0.5f};
  return {kind, 0, 0};
}

}  // namespace

Status recognise_functions(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  const Matcher match(editor);
  for (Editor::Index index : editor.nodes()) {
    const auto found = match_node(match, editor.node(index));
    if (!found) continue;
    editor.node(index).op = graph::Unary{function_of(found->kind)};
    editor.absorb_origins_since(index, found->source);
    editor.set_inputs(index, {found->source});
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
