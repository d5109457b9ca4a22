#include "lowering/passes/channel_affine.h"

#include <algorithm>
#include <cmath>

#include "lowering/passes/constants.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Node;

Numbers mapped(Numbers numbers, float (*function)(float)) {
  std::ranges::transform(numbers, numbers.begin(), function);
  return numbers;
}

std::optional<Affine> affine_of_binary(BinaryKind kind, Numbers numbers, bool x_is_first) {
  switch (kind) {
    case BinaryKind::kAdd:
      return Affine{{}, std::move(numbers)};
    case BinaryKind::kMul:
      return Affine{std::move(numbers), {}};
    case BinaryKind::kSub:
      if (x_is_first) return Affine{{}, mapped(std::move(numbers), [](float n) { return -n; })};
      return Affine{{-1}, std::move(numbers)};
    case BinaryKind::kDiv: {
      // A reciprocal that is denormal or infinite would lose accuracy.
      const auto invertible = [](float n) { return std::isnormal(n) && std::isnormal(1 / n); };
      if (!x_is_first || !std::ranges::all_of(numbers, invertible)) return std::nullopt;
      return Affine{mapped(std::move(numbers), [](float n) { return 1 / n; }), {}};
    }
    default:
      return std::nullopt;
  }
}

std::optional<AffineNode> match_binary(const Editor& editor, const Node& node, BinaryKind kind,
                                       size_t channel) {
  const graph::Dims& shape = editor.value(node.outputs[0]).shape;
  for (size_t slot : {0, 1}) {
    if (editor.value(node.inputs[slot]).shape != shape) continue;
    auto numbers = channel_values(editor.value(node.inputs[1 - slot]), shape, channel);
    if (!numbers) continue;
    auto affine = affine_of_binary(kind, *std::move(numbers), slot == 0);
    if (affine) return AffineNode{node.inputs[slot], *std::move(affine)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<AffineNode> match_affine(const Editor& editor, const Node& node, size_t channel) {
  if (const auto* binary = std::get_if<graph::Binary>(&node.op)) {
    return match_binary(editor, node, binary->kind, channel);
  }
  const auto* unary = std::get_if<graph::Unary>(&node.op);
  if (unary == nullptr || unary->function.kind != graph::UnaryKind::kLinear) return std::nullopt;
  Affine affine;
  if (unary->function.alpha != 1) affine.scale = {unary->function.alpha};
  if (unary->function.beta != 0) affine.shift = {unary->function.beta};
  return AffineNode{node.inputs[0], std::move(affine)};
}

}  // namespace millrace::lowering
