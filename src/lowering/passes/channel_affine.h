// Matches nodes that compute scale * x + shift, with one scale and shift or one of each per
// channel.
#pragma once

#include <optional>
#include <vector>

#include "lowering/passes/edit.h"

namespace millrace::lowering {

using Numbers = std::vector<float>;

// scale * x + shift. Each has one element for all channels or one per channel; empty stands for a
// scale of 1 and a shift of 0.
struct Affine {
  Numbers scale, shift;
};

// The element for a channel; `otherwise` if `numbers` is empty.
inline float at(const Numbers& numbers, size_t channel, float otherwise) {
  if (numbers.empty()) return otherwise;
  return numbers.size() == 1 ? numbers[0] : numbers[channel];
}

// A node as an affine function of one of its operands.
struct AffineNode {
  graph::ValueId source = graph::kNoValue;
  Affine affine;
};

// Matches a Binary (Add, Sub, Mul, Div) with a FLOAT32 constant, or a Unary kLinear. `channel` is
// the dimension of the output along which the constant may vary. Nothing for other nodes.
std::optional<AffineNode> match_affine(const Editor& editor, const graph::Node& node,
                                       size_t channel);

}  // namespace millrace::lowering
