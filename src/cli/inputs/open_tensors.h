// Tensors whose dimensions each job settles, on the command line: --shape says which an input has,
// or its file does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "millrace/tensor.hpp"

namespace millrace::cli {

// The shapes of NAME=1,3,64,64 arguments, by the name of the input.
using GivenShapes = std::map<std::string, std::vector<uint32_t>>;

// kInvalidArgument for one that is no shape, an input that the model does not have or that has one
// already, and a shape that the input cannot have.
Result<GivenShapes> parse_shapes(const graph::CompiledModel& model,
                                 const std::vector<std::string>& arguments);

// A profile of a dynamic model as it stands on the command line: NAME:x=1,3,224,224;y=1,10, with a
// shape for each open input. kInvalidArgument as parse_shapes(), and for an open input without one.
Result<graph::ShapeProfile> parse_profile(const graph::CompiledModel& model,
                                          const std::string& argument);

// The boundary tensor as it is in a job in which it has this shape: nothing of it is open.
graph::Boundary settled(const graph::Boundary& boundary, std::vector<uint32_t> shape);

// Whether the boundary tensor may have the shape.
bool can_have(const graph::Boundary& boundary, const std::vector<uint32_t>& shape);

// All inputs, the open ones settled by what is given. kInvalidArgument names one that is not, with
// the option to use.
Result<std::vector<graph::Boundary>> settled_inputs(const graph::CompiledModel& model,
                                                    const GivenShapes& shapes);

// Returns the error to report when the shape of an open input is not known.
Status shape_missing(const graph::Boundary& input);

}  // namespace millrace::cli
