// Shape functions: the type and shape of a node's output from those of its inputs. Each operator
// has one function, which the compiler and the archive reader share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace millrace::graph {

// Limits that keep every size computation far from overflow.
inline constexpr size_t kMaxRank = 8;
inline constexpr int64_t kMaxElements = int64_t{1} << 40;

struct ValueType {
  tensor::DataType type;
  Dims shape;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// Every operator but Fallback has exactly one output, and Fallback is refused. `inputs` has one
// entry per operand, null where it is absent. kInvalidArgument gives the reason, without the node's
// name (the caller adds it); hostile attributes (zero strides, overflowing sizes, axes out of
// range) are refused here.
Result<ValueType> infer_output(const Operator& op, std::span<const Value* const> inputs);

// The same for a node of a graph, with the node's name in the message.
Result<ValueType> infer_output(const Graph& graph, const Node& node);

// kInvalidArgument unless the rank is at most kMaxRank, no dimension negative, and the product of
// those that are not 0 at most kMaxElements. A tensor with a dimension of 0 has no elements.
Status check_shape(const Dims& shape);

// The operands of a node as its operator sees them: quantised values as FLOAT32 where it computes
// with numbers. Refers to the graph.
class SeenOperands {
 public:
  SeenOperands(const Graph& graph, const Node& node);
  std::span<const Value* const> all() const noexcept { return operands_; }

 private:
  std::vector<Value> numbers_;  // without elements
  std::vector<const Value*> operands_;
};

// "[1,3,224,224]", for messages.
std::string to_string(const Dims& shape);

// `axis` counted from the front; kInvalidArgument where it lies outside [-rank, rank).
Result<size_t> normalise_axis(int64_t axis, size_t rank);

// The numpy broadcast of two shapes.
Result<Dims> broadcast(const Dims& a, const Dims& b);

}  // namespace millrace::graph
