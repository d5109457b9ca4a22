// Gives shapes to open inputs, whose dimensions the model leaves to each job: by --shape options,
// by profiles, or by the shape of an input's file. A boundary with all dimensions known is
// *settled*. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "millrace/tensor.hpp"

namespace millrace::cli {

// Shapes by the name of the input.
using GivenShapes = std::map<std::string, std::vector<uint32_t>>;

// Parses arguments of the form NAME=1,3,64,64. kInvalidArgument if one is not a shape, the model
// has no such input, the input is given twice, or it cannot have the shape.
Result<GivenShapes> parse_shapes(const graph::CompiledModel& model,
                                 const std::vector<std::string>& arguments);

// Parses a profile of a dynamic model, such as NAME:x=1,3,224,224;y=1,10, with a shape for each
// open input. kInvalidArgument like parse_shapes(), or if an open input has no shape.
Result<graph::ShapeProfile> parse_profile(const graph::CompiledModel& model,
                                          const std::string& argument);

// Returns the boundary with this shape, settled; unchanged if it is not open.
graph::Boundary settled(const graph::Boundary& boundary, std::vector<uint32_t> shape);

// Whether the boundary tensor may have the shape.
bool can_have(const graph::Boundary& boundary, const std::vector<uint32_t>& shape);

// Returns all inputs of the model, the open ones settled by `shapes`. kInvalidArgument, with the
// options to use, if open inputs have no shape.
Result<std::vector<graph::Boundary>> settled_inputs(const graph::CompiledModel& model,
                                                    const GivenShapes& shapes);

// Returns the error to report when the shapes of open inputs are not known. It has options for all
// of them, as one line to paste, with the dimensions that are known and usual sizes for the others.
// `option` is "--shape" or "--input-shape". Requirement: there is an open input.
Status shapes_missing(const std::vector<graph::Boundary>& inputs, const char* option = "--shape");

// Checks that the texts are of the form NAME=1,3,64,64, before the model is known. kInvalidArgument
// begins with `option`.
Status check_shape_texts(const char* option, const std::vector<std::string>& arguments);

}  // namespace millrace::cli
