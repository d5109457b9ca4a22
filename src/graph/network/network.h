// Network: an ONNX model as its file states it, without protobuf: nodes that refer to their
// operands by name, attributes, initializers and subgraphs. Shapes may be open. The lowering
// (lowering/stage.h) turns a network into a Graph as soon as the shapes of its inputs are known:
// the compiler does so if all shapes are static, otherwise the runtime does, from an archive that
// holds the network itself.
//
// Plain data: many threads may read it at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "tensor/data_type.h"

namespace millrace::network {

struct Network;

// An attribute of a node, by its name in the ONNX standard. A tensor is a constant without a name.
struct Attribute {
  using Value =
      std::variant<int64_t, float, std::string, graph::Dims, std::vector<float>,
                   std::vector<std::string>, graph::Value, std::shared_ptr<const Network>>;
  std::string name;
  Value value;
};

// A node. Values are referred to by name; an optional operand or output that is left out has an
// empty name.
struct Node {
  std::string name;    // may be empty
  std::string domain;  // "" for the domain of the standard, which files also call "ai.onnx"
  std::string type;    // "Conv"
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;  // in the order of the file; no name twice
};

// A dimension of an input. Open dimensions with the same symbol, unless it is empty, have the same
// size.
struct Dimension {
  static constexpr int64_t kOpen = -1;
  int64_t size = kOpen;
  std::string symbol;  // of an open one; may be empty
};

// An input of the model, or a parameter of a subgraph. The file may leave out type and shape.
struct Input {
  std::string name;
  tensor::DataType type = tensor::DataType::kUnknown;  // kUnknown: not stated
  bool has_shape = false;                              // whether the rank is stated
  std::vector<Dimension> shape = {};
};

// An output as the file declares it. The declared dimensions need not equal the computed ones.
using Output = Input;

struct Network {
  std::map<std::string, int> opsets;  // by domain; a subgraph has those of the model
  std::vector<Input> inputs;          // without those that have an initializer
  std::vector<Output> outputs;
  std::vector<graph::Value> initializers;  // constants with different names
  std::vector<Node> nodes;                 // in topological order
  // For a subgraph: the values of enclosing networks that it or its own subgraphs read, in
  // ascending order. Empty for a model.
  std::vector<std::string> captures;
};

}  // namespace millrace::network
