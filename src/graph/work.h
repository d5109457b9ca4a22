// How much an operator computes.
#pragma once

#include "graph/graph.h"

namespace millrace::graph {

// Multiplications per element of the node's result, of the operators in which they count (Conv,
// MatMul, attention, LSTM); 0 for the others.
double multiplications_per_element(const Graph& graph, const Node& node);

// Whether it is an LSTM, also one that rounds its state as DynamicQuantizeLSTM does.
bool is_lstm(const Operator& op);

}  // namespace millrace::graph
