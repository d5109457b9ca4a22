// Plan: one stage of a dynamic program, lowered and loaded for the shapes of certain runs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "graph/graph.h"
#include "graph/network/network.h"
#include "graph/shape.h"

namespace millrace::runtime {

// Immutable; shared by all contexts of the program.
struct Plan {
  const network::Network* network = nullptr;
  std::shared_ptr<const Plan> after;  // the stage before; null for the first

  // The values that the plan is valid for: of these types and shapes and, if elements were read,
  // with these elements. By position in the list of names that the stage needs.
  std::vector<graph::ValueType> types;
  std::vector<std::pair<size_t, std::vector<std::byte>>> read;

  // The program that runs first, on values of the network by name; null if nothing is computed.
  std::shared_ptr<const device::Program> program;
  std::vector<std::string> inputs, outputs;
  // Values that no run needs to compute.
  std::vector<graph::Value> constants;
  // Nodes that run by themselves then, in order, as indices into the network's: those of
  // lowering::runs_alone(), or an If without which nothing goes on.
  std::vector<size_t> alone;
  // The nodes that are left for the stages after this one, and the values that those read.
  std::vector<size_t> rest;
  std::vector<std::string> needs;
};

}  // namespace millrace::runtime
