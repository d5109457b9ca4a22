// Capabilities: for which element types devices have kernels, one row of a table per operator.
//
// The same table answers at both ends. The compiler asks it before it makes an archive, and a
// device that computes asks it before it builds kernels, so what compiles loads, and an archive
// whose types were changed by hand is refused before a kernel sees it. NPU and CPU partitions have
// the same kernels, but for Fallbacks, most of which run on CPU partitions only. A new type for an
// operator is a larger set in its row, and a kernel in the device.
//
// Constant data, and functions of their arguments alone: thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::graph {

class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<tensor::DataType> types) {
    for (const tensor::DataType type : types) bits_ |= bit(type);
  }
  // False for types outside the list of tensor/data_type.h.
  constexpr bool contains(tensor::DataType type) const { return (bits_ & bit(type)) != 0; }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr uint32_t bit(tensor::DataType type) {
    const auto number = static_cast<uint32_t>(type);
    return number > 0 && number < tensor::kDataTypeCount ? uint32_t{1} << number : 0;
  }
  uint32_t bits_ = 0;
};

// "INT8, UINT8": the types by name, in the order of tensor/data_type.h.
std::string to_string(TypeSet types);

struct Capability {
  const char* op;        // the operator, as name_of() names it
  const char* function;  // what it computes, as function_of() names it; null stands for the rest
  TypeSet first;         // types of the first operand
  TypeSet others;        // types of every other operand that is there
};

// All rows. The first one that fits an operator holds, so rows with a function stand before the one
// without.
std::span<const Capability> capabilities() noexcept;
// The row of an operator. Every operator has one (tests/graph/capability_test.cpp).
const Capability& capability_of(const Operator& op) noexcept;

// The name of what an operator with several functions computes: "Add" of a Binary, "Max" of a Pool.
// Null for the others.
const char* function_of(const Operator& op) noexcept;

// OK where there are kernels for `op` on operands of these types (null where one is absent). Else
// kUnsupported, for example "there is no kernel for Add of INT32, only of BF16, FP16, FLOAT32".
// Sums and products that have elements although an operand has none count as without kernel, too.
// Requirement: infer_output() accepts the operands.
Status check_capability(const Operator& op, std::span<const Value* const> inputs);
Status check_capability(const Graph& graph, const Node& node);

// Whether NPU partitions run the node: every operator of the graph, and of the Fallbacks those that
// have fast kernels for the types that the NPU keeps values in. CPU partitions run all.
bool runs_on_npu(const Graph& graph, const Node& node) noexcept;

// check_capability() for all nodes of a valid graph; the message names every node without a kernel.
Status check_capabilities(const Graph& graph);

}  // namespace millrace::graph
