// Lowering: from a Network to a Graph of static shapes.
//
// The structure of a graph (target shapes, bounds of slices, pads) may depend on elements that are
// computed only while the model runs. The lowering therefore goes as far as it can: a stage is the
// graph of those nodes that can be lowered with what is known, and the rest of the network waits
// until the stage has run. A network whose shapes are static and follow from no elements is one
// stage.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/network/network.h"
#include "lowering/evaluate/folding_budget.h"

namespace millrace::lowering {

// A value that is there before the stage runs: an input of the network, or what earlier stages
// made.
struct Known {
  std::string name;
  tensor::DataType type = tensor::DataType::kUnknown;  // kUnknown: it is a sequence
  graph::Dims shape;
  // Its elements, where they are known, too. The lowering uses them only where an operator cannot
  // be lowered without, and copies them then: the value stays an input of the graph otherwise, and
  // without an owner they stay where they are during the call only. Those of a constant (below)
  // have an owner, which the graph shares.
  std::optional<graph::Constant> elements = std::nullopt;
  // Whether it is the same in every run that has the same plan up to here, such as the result of a
  // Shape: then it is a constant of the graph. Requirement: `elements`.
  bool constant = false;
};

struct Stage {
  // Inputs are those known values that the graph reads; outputs are the values that its nodes make
  // and that are outputs of the network or read by the rest. Without nodes where nothing could be
  // lowered.
  graph::Graph graph;
  std::vector<std::string> inputs;   // by input of the graph: which known value it is
  std::vector<std::string> outputs;  // by output of the graph: the name in the network
  // Values that came out as constants, and are outputs of the network or read by the rest.
  std::vector<graph::Value> constants;
  // The known values, not constant ones, whose elements the graph follows from, in ascending order:
  // it is good for every run that has the same shapes and, of these, the same elements.
  std::vector<std::string> read;
  // The budget that is left for computing constants; the passes over the graph use it.
  FoldingBudget budget;
  // The nodes that are left, as indices into Network::nodes, ascending.
  std::vector<size_t> rest;
};

struct StageRequest {
  const network::Network& network;
  std::span<const size_t> nodes;  // the nodes to be lowered, ascending
  std::span<const Known> known;   // at least all that they read and do not make
  // Whether a stage may leave nodes to a later one. If not, what it cannot lower is an error.
  bool may_leave_rest = true;
  // Whether quantised operators are computed as the standard defines each, one by one, instead of
  // as operators of the graph on quantised values.
  bool as_written = false;
};

// Lowers as many of the nodes as can be. A node is left to the rest when it, or the shapes of its
// outputs, depend on elements that are not known, when it has a subgraph that must run (a Loop or
// Scan, unless it has few iterations and their number is known), and when it reads what such a node
// makes. kUnsupported: one message that names every type,
// domain and opset that is not covered, with its first nodes. kInvalidArgument: an inconsistent
// model; names node and reason.
Result<Stage> lower_stage(const StageRequest& request);

// Lowers all nodes of a network whose inputs have static shapes, with no elements known. Where no
// node is left to the rest, the graph has all inputs of the network, those that nothing reads, too,
// and all outputs, in their order: one that is an input or a constant is made by an Identity.
// Errors are those of lower_stage(), and kInvalidArgument for an open shape.
Result<Stage> lower_whole(const network::Network& network, bool may_leave_rest,
                          bool as_written = false);

// Refuses a network whose nodes can never run, whatever its shapes are: kUnsupported, as
// lower_stage(), for nodes whose operators are not covered, those in subgraphs included.
Status check_operators(const network::Network& network);

// Whether an operator must be run by itself, with operands at hand, since its subgraph runs, it is
// about a sequence that a loop carries, or the shapes of its outputs follow from all elements of an
// operand (NonZero, Unique). Nodes of such operators are always left to the rest, unless all their
// operands are constants.
bool runs_alone(const network::Node& node);

// The node as a fallback operator, for one that runs alone and has no subgraph. kUnsupported where
// there is none for the operator and opset, or an attribute is of a kind that fallbacks do not
// have.
Result<graph::Fallback> as_fallback(const network::Network& network, const network::Node& node);

}  // namespace millrace::lowering
