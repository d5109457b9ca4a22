// Compiles models whose shapes each job determines: their archive holds the network itself.
// Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/options.h"
#include "graph/compiled_model.h"
#include "graph/network/network.h"
#include "lowering/stage.h"

namespace millrace::compiler {

// Removes nodes and initializers on which no output depends.
void drop_unneeded(network::Network& network);

// Makes the model of a network with open shapes. `first_stage` is what could be lowered before
// anything runs: outputs that it makes have static shapes, and all others have open ones.
// kUnsupported: neither the model nor the stage states the type of an output. kInvalidArgument: a
// name that no archive can hold, or options that need static shapes.
Result<graph::CompiledModel> make_dynamic(network::Network network,
                                          const lowering::Stage& first_stage,
                                          const CompileOptions& options, std::string name);

}  // namespace millrace::compiler
