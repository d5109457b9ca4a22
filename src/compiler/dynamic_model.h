// The model whose archive carries the network itself, since its shapes are settled by each job.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/options.h"
#include "graph/compiled_model.h"
#include "graph/network/network.h"
#include "lowering/stage.h"

namespace millrace::compiler {

// Drops nodes and initializers that no output needs.
void drop_unneeded(network::Network& network);

// `first_stage` is what could be lowered before anything runs; its outputs have static shapes, and
// those of the network are open otherwise. kUnsupported: an output whose type neither the model nor
// the stage states. kInvalidArgument: names that no archive can hold, or options that need static
// shapes.
Result<graph::CompiledModel> make_dynamic(network::Network network,
                                          const lowering::Stage& first_stage,
                                          const CompileOptions& options, std::string name);

}  // namespace millrace::compiler
