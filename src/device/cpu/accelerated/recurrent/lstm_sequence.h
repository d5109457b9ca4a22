// An LSTM over a single sequence, in FP32. oneDNN computes it as products of matrices with one
// row, for which it waits on every addition; here the weights are read as fast as the cache gives
// them.
#pragma once

#include "device/cpu/accelerated/accelerated.h"

namespace millrace::device::cpu::accelerated {

// Whether the node, an LSTM, has one sequence, and enough units to fill a vector.
bool is_lstm_sequence(const AcceleratedNode& node);

// Whether it is such a node if it is lowered by this device at all, and computes two directions.
// These wait for nothing of each other, so that two lanes can take one each.
bool has_two_directions(const graph::Graph& graph, const graph::Node& node);

// As a Lowering that covers the node. Requirements: is_lstm_sequence(); weights, recurrence weights
// and biases are constants; default activations, no peepholes, and all that is_covered() asks for.
// With `rounds_state`, h is rounded as by DynamicQuantizeLinear before each step multiplies it.
Result<bool> lower_lstm_sequence(Builder& builder, const AcceleratedNode& node, bool rounds_state);

}  // namespace millrace::device::cpu::accelerated
