// The compiler's passes in the order in which they run.
#pragma once

#include <span>

#include "base/status.h"
#include "compiler/passes/passes.h"
#include "graph/graph.h"

namespace millrace::compiler {

struct Pass {
  const char* name;
  Status (*run)(graph::Graph& graph, const PassContext& context);
};

// A name may occur more than once.
std::span<const Pass> pass_table();

}  // namespace millrace::compiler
