// The arithmetic cost of operators. Thread-safe.
#pragma once

#include "graph/graph.h"

namespace millrace::graph {

// Returns the multiplications per element of the result of the node, for the operators in which
// they dominate (Conv, MatMul, attention, LSTM); 0 for all others.
double multiplications_per_element(const Graph& graph, const Node& node);

// Whether the operator is an LSTM, or the variant that rounds its state as DynamicQuantizeLSTM
// does.
bool is_lstm(const Operator& op);

}  // namespace millrace::graph
