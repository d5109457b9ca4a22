// Network: an ONNX model as its file states it, without protobuf: nodes that name their operands,
// attributes, initializers, subgraphs. Shapes may be open. The lowering (lowering/stage.h) turns it
// into a Graph as soon as the shapes of its inputs are known: the compiler for models whose shapes
// are all static, the runtime for the others, whose archives carry the network itself.
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

// An attribute of a node, as the standard names it. A tensor is a constant without a name.
struct Attribute {
  using Value =
      std::variant<int64_t, float, std::string, graph::Dims, std::vector<float>,
                   std::vector<std::string>, graph::Value, std::shared_ptr<const Network>>;
  std::string name;
  Value value;
};

// Values are known by name; an operand or output that is left out has an empty one.
struct Node {
  std::string name;    // may be empty
  std::string domain;  // "" is the domain of the standard, for which files also have "ai.onnx"
  std::string type;    // "Conv"
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;  // in the order of the file; no name twice
};

// A dimension of an input. Dimensions of the same symbol, if it is not empty, have the same size.
struct Dimension {
  static constexpr int64_t kOpen = -1;
  int64_t size = kOpen;
  std::string symbol;  // of an open one; may be empty
};

// An input of the model, or a parameter of a subgraph, whose type and shape may be unstated.
struct Input {
  std::string name;
  tensor::DataType type = tensor::DataType::kUnknown;  // kUnknown: not stated
  bool has_shape = false;                              // whether the rank is stated
  std::vector<Dimension> shape = {};
};

// An output as the file declares it; its dimensions need not be those that are computed.
using Output = Input;

struct Network {
  std::map<std::string, int> opsets;  // by domain; of a subgraph, those of the model
  std::vector<Input> inputs;          // without those that an initializer fills
  std::vector<Output> outputs;
  std::vector<graph::Value> initializers;  // constants; each has a name of its own
  std::vector<Node> nodes;                 // in an order in which values are made before their use
  // For a subgraph: the values of the networks around it that it or its own subgraphs read, in
  // ascending order. Empty for a model.
  std::vector<std::string> captures;
};

}  // namespace millrace::network
