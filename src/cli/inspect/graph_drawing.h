// Draws a model as a graph in the DOT language of Graphviz: a box for each operator, an ellipse for
// each input and output, and an edge for each tensor between them. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/compiled_model.h"

namespace millrace::cli {

struct DrawnNode {
  std::string operation, name, details;      // the lines of the box; the last two may be empty
  std::vector<std::string> inputs, outputs;  // values, by keys that are unique in the graph
  std::string part;  // boxes with the same text, such as "CPU 2", have a frame; empty: no frame
  bool on_npu = true;
};

struct DrawnTensor {
  std::string value, name;
};

// The model, whatever form it has: a compiled graph, a network with open shapes, or a file.
struct DrawnGraph {
  std::string name;
  std::vector<DrawnTensor> inputs, outputs;
  std::vector<DrawnNode> nodes;
  std::map<std::string, std::string> types;  // by value: type and shape, where they are known
};

DrawnGraph drawn_graph(const graph::CompiledModel& model);

// Returns a digraph whose names are in printable form (base/printable.h), whatever bytes they have.
std::string dot_text(const DrawnGraph& graph);

}  // namespace millrace::cli
