// Moves quantisation before Relu and Clip: the first step of keep_quantised.
#pragma once

#include "graph/graph.h"

namespace millrace::lowering {

// Finds each Relu or Clip between an operator and the Requantise that stores the clipped result,
// and quantises the operand of the function to the form of the result, so that the operator can
// store integers, too. The integers of the result stay the same: rounding preserves order, so it
// may come before the clip.
void quantise_before_clips(graph::Graph& graph);

}  // namespace millrace::lowering
