// Functions that cut off numbers, on integers: part of keep_quantised.
#pragma once

#include "graph/graph.h"

namespace millrace::lowering {

// A Relu or Clip between an operator and the Requantise that stores its result cuts off integers
// instead: the operand is quantised in the form of the result before, where that gives the same
// integers. So the operator stores integers, too.
void quantise_before_clips(graph::Graph& graph);

}  // namespace millrace::lowering
