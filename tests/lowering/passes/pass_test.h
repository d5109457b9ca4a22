// Runs a pass for its test, and checks that the graph is valid and computes the same.
#pragma once

#include <gmock/gmock.h>

#include "lowering/passes/passes.h"
#include "tests/lowering/passes/graph_maker.h"

namespace millrace::lowering {

using graph::Activation;
using graph::Binary;
using graph::BinaryKind;
using graph::Conv;
using graph::Dims;
using graph::Graph;
using graph::kNoValue;
using graph::MatMul;
using graph::Node;
using graph::Unary;
using graph::UnaryKind;
using graph::ValueId;

using PassFunction = Status (*)(Graph&, const PassContext&);

// Runs the pass, then eliminate_dead_code. Both graphs must be valid and compute the same; a
// failure of either fails the test.
Graph run_pass(PassFunction pass, const Graph& before, const PassContext& context = {});

// The names of the operators in order; Unary and Binary by their function: {"Conv", "Relu", "Add"}.
std::vector<std::string> operators_of(const Graph& graph);

}  // namespace millrace::lowering
