// Nodes seen as a scale and shift per channel.
#pragma once

#include <optional>
#include <vector>

#include "lowering/passes/edit.h"

namespace millrace::lowering {

using Numbers = std::vector<float>;

// scale * x + shift, each one number, or one per channel; empty stands for 1 and 0.
struct Affine {
  Numbers scale, shift;
};

inline float at(const Numbers& numbers, size_t channel, float otherwise) {
  if (numbers.empty()) return otherwise;
  return numbers.size() == 1 ? numbers[0] : numbers[channel];
}

// A node as an affine function of one operand.
struct AffineNode {
  graph::ValueId source = graph::kNoValue;
  Affine affine;
};

// Arithmetic with a FLOAT32 constant, or a Linear. `channel` is the dimension of the output along
// which the numbers may vary. Nothing for other nodes.
std::optional<AffineNode> match_affine(const Editor& editor, const graph::Node& node,
                                       size_t channel);

}  // namespace millrace::lowering
