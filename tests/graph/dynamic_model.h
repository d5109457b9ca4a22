// A model with a network: inputs of open shape and of unknown rank, attributes of every kind, a
// subgraph in a subgraph that captures values, empty and shared constants. It computes nothing of
// use.
#pragma once

#include <memory>

#include "graph/compiled_model.h"
#include "graph/network/network.h"

namespace millrace::test {

graph::CompiledModel dynamic_model();

// The same with another network, whose boundaries must be the same.
graph::CompiledModel dynamic_model(network::Network network);
network::Network dynamic_network();

}  // namespace millrace::test
