// Finds the sequences of tensors that a Loop carries from iteration to iteration, or that the body
// of a Loop or Scan captures.
//
// All other sequences exist in the lowering only, as lists of values (operators/sequences.cpp). A
// carried sequence exists at run time: the operators that make, change or read it run by
// themselves, between stages (runs_alone()).
#pragma once

#include "graph/network/network.h"

namespace millrace::lowering {

// Moves all operators of the model whose sequence is carried, including those in subgraphs, to the
// domain kCarriedDomain (node_facts.h).
void mark_carried_sequences(network::Network& model);

}  // namespace millrace::lowering
