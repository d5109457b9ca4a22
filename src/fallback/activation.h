// Activations of the recurrent operators RNN, GRU and LSTM, with the names and parameters of the
// standard. Thread-safe.
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

// Returns the `count` activations that the attributes activations, activation_alpha and
// activation_beta of a node state; without these, `defaults`, repeated. Functions take their
// parameters from the lists in turn, and the defaults of the standard once a list is exhausted.
// kInvalidArgument: the number of activations differs from `count`, or a function is unknown.
Result<std::vector<RecurrentActivation>> recurrent_activations(
    const NodeView& node, size_t count, std::span<const ActivationKind> defaults);

}  // namespace millrace::fallback
