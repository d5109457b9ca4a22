// Equalisation: makes the channels of values between two convolutions about equally large, so that
// one scale suits them all.
#pragma once

#include <cstddef>

#include "graph/graph.h"
#include "quantise/calibrate/collect.h"

namespace millrace::quantise {

// Divides the channels of each value that one convolution makes for another one alone by numbers by
// which the weights of the other are multiplied. The activation between them must let factors
// through: a ReLU, a leaky one, or none. The graph computes the same but for rounding. Returns how
// many values were changed: `calibration` no longer holds for those, and still does for all others.
// Requirement: `calibration` is of this graph.
size_t equalise(graph::Graph& graph, const Calibration& calibration);

}  // namespace millrace::quantise
