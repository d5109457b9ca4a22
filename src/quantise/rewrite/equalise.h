// Equalisation: makes the channels of a value between two convolutions about equally large, so that
// one scale per value suits all of them. As in cross-layer equalisation (Nagel et al., "Data-Free
// Quantization Through Weight Equalization and Bias Correction", 2019), factors move between the
// weights of neighbouring convolutions. As in SmoothQuant (Xiao et al., 2022), the factor of
// channel c is, up to a common one, sqrt(max |x_c| / max |w_c|) of the calibrated value x and the
// weights w that read it.
#pragma once

#include <cstddef>

#include "graph/graph.h"
#include "quantise/calibrate/collect.h"

namespace millrace::quantise {

// Equalises each value that one Conv makes and only one other Conv reads: divides the first one's
// weights and bias by a factor per channel, and multiplies the weights of the other by it. The
// activation between them must be positively homogeneous: Relu, LeakyRelu or none. The graph
// computes the same results up to rounding. Returns how many values were changed: `calibration` is
// no longer valid for these, and still is for all others. Requirement: `calibration` is of this
// graph.
size_t equalise(graph::Graph& graph, const Calibration& calibration);

}  // namespace millrace::quantise
