// The shapes that a caller gives for a model's inputs.
#pragma once

#include <map>
#include <string>

#include "graph/graph.h"

namespace millrace::compiler {

using InputShapes = std::map<std::string, graph::Dims>;  // input name -> full shape

}  // namespace millrace::compiler
