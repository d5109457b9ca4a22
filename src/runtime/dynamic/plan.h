// Plan: one stage of a dynamic program, lowered and loaded for certain shapes. It is valid for
// every run with the same shapes, and with the same elements where the lowering has read them.
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
  std::shared_ptr<const Plan> after;  // the plan of the previous stage; null for the first

  // The values for which the plan is valid: their types and shapes, and the elements of those whose
  // elements were read. Both go by position in the list of names that the stage needs
  // (PlanCache::names_needed).
  std::vector<graph::ValueType> types;
  std::vector<std::pair<size_t, std::vector<std::byte>>> read;

  // The program of the stage, which runs first; null if it computes nothing. `inputs` and `outputs`
  // are the names of its boundary tensors in the network.
  std::shared_ptr<const device::Program> program;
  std::vector<std::string> inputs, outputs;
  // Values of the network that the lowering has computed.
  std::vector<graph::Value> constants;
  // Nodes that run by themselves after the program, in order, as indices into the network's nodes:
  // those of lowering::runs_alone(), or an If without which no other node can run.
  std::vector<size_t> alone;
  // The nodes that are left for later stages, and the values that they read.
  std::vector<size_t> rest;
  std::vector<std::string> needs;
};

}  // namespace millrace::runtime
