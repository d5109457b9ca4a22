// Capabilities: the element types for which devices have kernels, as a table with a row per
// operator.
//
// The compiler consults the table before it makes an archive, and a device that computes consults
// it before it builds kernels. So what compiles can be loaded, and an archive whose types were
// changed by hand is refused before a kernel sees it. NPU and CPU partitions have the same kernels,
// except for Fallbacks, most of which run on CPU partitions only. To support a new type for an
// operator, extend the set in its row and add a kernel to the device.
//
// All data is constant; all functions are thread-safe.
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
  // False for UNKNOWN and for numbers that are not in the list of tensor/data_type.h.
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

// Lists the names of the types, in the order of tensor/data_type.h, for example "INT8, UINT8".
std::string to_string(TypeSet types);

struct Capability {
  const char* op;        // the operator, as in name_of()
  const char* function;  // its function, as in function_of(); null matches any
  TypeSet first;         // types of the first operand
  TypeSet others;        // types of every other operand that is present
};

// All rows. The first match counts, so the rows of an operator with a function precede the row
// without.
std::span<const Capability> capabilities() noexcept;
// Returns the row of an operator. Every operator has one (tests/graph/capability_test.cpp).
const Capability& capability_of(const Operator& op) noexcept;

// The name of the function of an operator with several functions: "Add" for a Binary, "Max" for a
// Pool. Null for all other operators.
const char* function_of(const Operator& op) noexcept;

// OK if there are kernels for `op` with operands of these types (null if an operand is absent).
// Otherwise kUnsupported, for example "there is no kernel for Add of INT32, only of BF16, FP16,
// FLOAT32". A sum or product over no elements, whose result has elements although an operand is
// empty, has no kernel either. Requirement: infer_output() accepts the operands.
Status check_capability(const Operator& op, std::span<const Value* const> inputs);
Status check_capability(const Graph& graph, const Node& node);

// Whether NPU partitions can run the node. They run every operator of the graph except Fallbacks,
// and those Fallbacks that have fast kernels for the type of the first operand. CPU partitions run
// all nodes but collectives.
bool runs_on_npu(const Graph& graph, const Node& node) noexcept;

// Calls check_capability() for all nodes of a valid graph. The message names every node without a
// kernel.
Status check_capabilities(const Graph& graph);

}  // namespace millrace::graph
