// Lowering: the translation of a Network into a Graph of typed operators with static shapes.
//
// The structure of a graph (target shapes, bounds of slices, pads) may depend on elements that are
// computed only while the model runs. Therefore a network is lowered in stages. A stage is the
// graph of those nodes that can be lowered with what is known; the rest of the network waits until
// the stage has run, and is lowered then, with its results known. A network whose shapes are all
// static and depend on no computed elements is a single stage.
//
// Functions depend on their arguments alone: thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/capabilities.h"
#include "graph/graph.h"
#include "graph/network/network.h"
#include "lowering/evaluate/folding_budget.h"

namespace millrace::lowering {

// A value that exists before the stage runs: an input of the network, or a result of an earlier
// stage.
struct Known {
  std::string name;
  tensor::DataType type = tensor::DataType::kUnknown;  // kUnknown: the value is a sequence
  graph::Dims shape;
  // The elements, if the caller knows them. The lowering reads them only where an operator cannot
  // be lowered without them, and then copies them; the value remains an input of the graph. The
  // bytes need to stay valid during the call only, except for a constant (below), whose owner the
  // graph shares.
  std::optional<graph::Constant> elements = std::nullopt;
  // Whether the elements are the same in every run that uses the same plans so far, such as the
  // result of a Shape. Such a value becomes a constant of the graph. Requirement: `elements`.
  bool constant = false;
};

struct Stage {
  // Its inputs are the known values that it reads. Its outputs are the values that its nodes make
  // and that are outputs of the network or operands of the rest. The graph has no nodes if none
  // could be lowered.
  graph::Graph graph;
  std::vector<std::string> inputs;   // by input of the graph: the name of the known value
  std::vector<std::string> outputs;  // by output of the graph: the name in the network
  // Values that were computed as constants, and are outputs of the network or operands of the rest.
  std::vector<graph::Value> constants;
  // Names, in ascending order, of the known values whose elements the structure of the graph
  // depends on. The graph is valid for every run in which all known values have the same shapes,
  // and these values have the same elements. Constant ones are not listed.
  std::vector<std::string> read;
  // The budget that is left for constant folding by the passes over the graph.
  FoldingBudget budget;
  // The nodes that are left to later stages, as indices into Network::nodes, ascending.
  std::vector<size_t> rest;
};

struct StageRequest {
  const network::Network& network;
  const graph::Capabilities capabilities;  // those of the device that is to run the stage
  std::span<const size_t> nodes;           // the nodes to be lowered, ascending
  std::span<const Known> known;  // at least all values that the nodes read and do not make
  // Whether nodes may be left to a later stage. If not, a node that cannot be lowered is an error.
  bool may_leave_rest = true;
  // Whether each quantised operator is computed as the standard defines it, instead of being fused
  // into operators of the graph on quantised values: for a reference result.
  bool as_written = false;
};

// Lowers as many of the nodes as possible. A node is left to the rest if it, or the shape of one of
// its outputs, depends on elements that are not known; if it has a subgraph that must run (a Loop
// or Scan, unless it has few iterations and their number is known); or if it reads a result of such
// a node. kUnsupported: one message that lists every operator type, domain and opset that is not
// supported, with the first of its nodes. kInvalidArgument: an inconsistent model; the message
// names node and reason.
Result<Stage> lower_stage(const StageRequest& request);

// Lowers all nodes of a network whose inputs have static shapes, with no elements known. If no node
// is left to the rest, the graph has all inputs of the network, including unread ones, and all its
// outputs, in their order; an output that is an input or a constant is made by an Identity. Errors
// are those of lower_stage(), and kInvalidArgument for an open shape.
Result<Stage> lower_whole(const network::Network& network, const graph::Capabilities& capabilities,
                          bool may_leave_rest, bool as_written = false);

// Refuses a network that cannot run whatever its shapes are: kUnsupported, with the message of
// lower_stage(), for nodes whose operators are not supported, including nodes in subgraphs.
Status check_operators(const network::Network& network);

// Whether a node must run by itself, between stages, because it has a subgraph that runs (Loop,
// Scan), works on a sequence that a loop carries, or has outputs whose shapes follow from all
// elements of an operand (NonZero, Unique). Such nodes are left to the rest, unless a loop can be
// unrolled, or, for the last kind, all operands are constants.
bool runs_alone(const network::Node& node);

// Returns the fallback operator for a node that runs alone and has no subgraph. kUnsupported if
// there is none for its operator and opset, or if an attribute is of a kind that fallback operators
// do not have.
Result<graph::Fallback> as_fallback(const network::Network& network, const network::Node& node);

}  // namespace millrace::lowering
