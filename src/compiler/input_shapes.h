// Applies the shapes that a caller gives for the inputs of a model (--input-shape). Thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/network/network.h"

namespace millrace::compiler {

// Maps input names to full shapes, in which Dimension::kOpen stands for a size that each job
// determines.
using InputShapes = std::map<std::string, graph::Dims>;

// Determines the dimensions of the network's inputs. Given shapes fix open dimensions, and may
// change a leading dimension. A leading dimension that the model leaves open becomes 1 (one frame)
// unless a given shape keeps it open. An exception are models in which all inputs with such a
// dimension are vectors, whose length counts frames only if its symbol names a batch. A symbol that
// a given shape fixes or keeps open in one input is fixed or open in all inputs. All other
// dimensions stay open.
//
// kInvalidArgument names the input, its dimensions and what does not fit. kUnsupported: a dimension
// above 2^31 - 1.
Status settle_inputs(const InputShapes& given, network::Network& network);

// An input whose leading dimension settle_inputs() takes for the number of frames without evidence:
// the model leaves it open, its symbol does not name a batch, and no shape is given.
struct AssumedFrame {
  std::string input;
  graph::Dims kept_open;  // the shape to give in order to keep it open
};

// Returns the inputs with assumed frames. `inputs` are as the model states them, before
// settle_inputs().
std::vector<AssumedFrame> assumed_frames(const InputShapes& given,
                                         const std::vector<network::Input>& inputs);

// Whether the rank and all dimensions of the input are known.
bool is_static(const network::Input& input);

}  // namespace millrace::compiler
