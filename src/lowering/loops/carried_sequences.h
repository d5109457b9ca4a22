// Sequences of tensors that a Loop or Scan carries.
//
// A sequence whose operators are lowered together is a list of values there
// (operators/sequences.cpp). One that goes into a loop, or out of one, exists while the model runs:
// its operators run by themselves, between stages.
#pragma once

#include "graph/network/network.h"

namespace millrace::lowering {

// Puts into the domain kCarriedDomain (node_facts.h) all operators of the model, those in subgraphs
// included, whose sequence is carried.
void mark_carried_sequences(network::Network& model);

}  // namespace millrace::lowering
