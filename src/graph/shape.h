// Shape functions: they compute the type and shape of the output of a node from those of its
// inputs. Each operator has one function, which the compiler and the archive reader share.
// Thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace millrace::graph {

// Limits that keep all computations of sizes far from overflow.
inline constexpr size_t kMaxRank = 8;
inline constexpr int64_t kMaxElements = int64_t{1} << 40;

struct ValueType {
  tensor::DataType type;
  Dims shape;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// Returns the type and shape of the output. Every operator but Fallback has exactly one output; a
// Fallback is refused. `inputs` has one entry per operand, null if it is absent. kInvalidArgument
// gives the reason without the name of the node, which the caller adds; malformed attributes (zero
// strides, overflowing sizes, axes out of range) are refused here.
Result<ValueType> infer_output(const Operator& op, std::span<const Value* const> inputs);

// Returns the type and shape of the output of a node; a failure names the node.
Result<ValueType> infer_output(const Graph& graph, const Node& node);

// kInvalidArgument unless the rank is at most kMaxRank, no dimension is negative, and the product
// of the dimensions that are not 0 is at most kMaxElements. A tensor with a dimension of 0 has no
// elements.
Status check_shape(const Dims& shape);

// The operands of a node as its operator sees them: quantised values appear as FLOAT32 if the
// operator computes with real values (computes_numbers()). Refers to the graph, which must outlive
// it.
class SeenOperands {
 public:
  SeenOperands(const Graph& graph, const Node& node);
  std::span<const Value* const> all() const noexcept { return operands_; }

 private:
  std::vector<Value> numbers_;  // FLOAT32 stand-ins for quantised operands, without elements
  std::vector<const Value*> operands_;
};

// Formats a shape for messages, for example "[1,3,224,224]".
std::string to_string(const Dims& shape);

// Returns `axis` counted from the front; kInvalidArgument if it lies outside [-rank, rank).
Result<size_t> normalise_axis(int64_t axis, size_t rank);

// Returns the common shape to which two shapes are broadcast, as in numpy; kInvalidArgument if
// there is none.
Result<Dims> broadcast(const Dims& a, const Dims& b);

}  // namespace millrace::graph
