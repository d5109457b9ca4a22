// Activations of recurrent operators, by the names and with the parameters of the standard.
#pragma once

#include <string_view>
#include <vector>

#include "fallback/node_view.h"

namespace millrace::fallback {

enum class ActivationKind : uint8_t {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};

struct RecurrentActivation {
  ActivationKind kind = ActivationKind::kTanh;
  float alpha = 0, beta = 0;

  float operator()(float x) const noexcept;
};

// Returns the `count` activations that the node's attributes activations, activation_alpha and
// activation_beta state; `defaults`, repeated, if it has none. Functions take their parameters from
// the lists in turn, and the standard's defaults once a list is exhausted. kInvalidArgument:
// another number of activations, or a function that does not exist.
Result<std::vector<RecurrentActivation>> recurrent_activations(
    const NodeView& node, size_t count, std::span<const ActivationKind> defaults);

}  // namespace millrace::fallback
