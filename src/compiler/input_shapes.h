// The shapes that a caller gives for a model's inputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/network/network.h"

namespace millrace::compiler {

// Input name -> full shape, in which Dimension::kOpen stands for a size that each job settles.
using InputShapes = std::map<std::string, graph::Dims>;

// Settles the dimensions of the network's inputs. A leading dimension that the model leaves open is
// 1, unless the given shape keeps it open, or all inputs with such a dimension are vectors, whose
// length does not count frames if it is not called a batch; given shapes may change a leading
// dimension and fix the others that are open. A symbol that is fixed, or kept open, in one input is
// so in all. The rest stays open. kInvalidArgument names the input, its dimensions and what does
// not fit; kUnsupported: a dimension that is 0 or beyond 32 bits.
Status settle_inputs(const InputShapes& given, network::Network& network);

// An input whose leading dimension settle_inputs() takes for the frames of a batch, though nothing
// says so: the model leaves it open without calling it a batch, and no shape is given.
struct AssumedFrame {
  std::string input;
  graph::Dims kept_open;  // the shape that would keep it open, in the terms of `given`
};

// Returns the inputs with assumed frames, among inputs as the model states them.
std::vector<AssumedFrame> assumed_frames(const InputShapes& given,
                                         const std::vector<network::Input>& inputs);

// Whether the rank and all dimensions of the input are settled.
bool is_static(const network::Input& input);

}  // namespace millrace::compiler
