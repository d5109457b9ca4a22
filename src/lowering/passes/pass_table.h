// The table of the compiler's passes, in the order in which they run. Constant data: thread-safe.
#pragma once

#include <span>

#include "base/status.h"
#include "graph/graph.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {

struct Pass {
  const char* name;
  Status (*run)(graph::Graph& graph, const PassContext& context);
};

// A name may occur more than once.
std::span<const Pass> pass_table();

}  // namespace millrace::lowering
