// The compiler's passes in the order in which they run.
#pragma once

#include <span>

#include "base/status.h"
#include "compiler/placement.h"
#include "graph/compiled_model.h"
#include "graph/graph.h"

namespace millrace::compiler {

struct PassContext {
  graph::Precision precision = graph::Precision::kFp32;
  CpuOperators cpu_operators = {};
};

struct Pass {
  const char* name;
  Status (*run)(graph::Graph& graph, const PassContext& context);
};

// A name may occur more than once.
std::span<const Pass> pass_table();

}  // namespace millrace::compiler
