// Shape functions: the type and shape of a node's output from those of its inputs. One operator,
// one function; compiler and archive reader use the same.
#pragma once

#include <span>

#include "graph/graph.h"

namespace millrace::graph {

struct ValueType {
  tensor::DataType type;
  Dims shape;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// Every operator has exactly one output. `inputs` has one entry per operand, null where it is
// absent. kInvalidArgument says what does not fit, without the node's name (the caller adds it);
// hostile attributes (zero strides, overflowing sizes, axes out of range) are refused here.
Result<ValueType> infer_output(const Operator& op, std::span<const Value* const> inputs);

// The same for a node of a graph, with the node's name in the message.
Result<ValueType> infer_output(const Graph& graph, const Node& node);

// The numpy broadcast of two shapes.
Result<Dims> broadcast(const Dims& a, const Dims& b);

}  // namespace millrace::graph
