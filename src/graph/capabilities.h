// Capabilities: what a device can run, as the device states it: the element types of each operator,
// and the Fallbacks that its NPU runs.
//
// A lowering is given the capabilities of the device for which it makes a model, and the device
// consults them before it builds kernels. So what compiles can be loaded, and an archive whose
// types were changed by hand is refused before a kernel sees it. NPU and CPU partitions have the
// same kernels, except for Fallbacks, most of which run on CPU partitions only.
//
// All data is constant; all functions are thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/type_set.h"

namespace millrace::graph {

// The types for which a device has kernels of an operator.
struct OperatorTypes {
  const char* op;        // the operator, as in name_of()
  const char* function;  // its function, as in function_of(); null matches any
  TypeSet first;         // types of the first operand
  TypeSet others;        // types of every other operand that is present
};

// A Fallback with a kernel that is fast enough for the NPU.
struct FastFallback {
  std::string_view name;
  TypeSet first;  // types of the first operand
};

class Capabilities {
 public:
  // Describes a device that has no kernels.
  constexpr Capabilities() = default;
  // The first matching row of an operator counts, so the rows with a function precede the row
  // without. Requirement: all rows outlive this object and its copies.
  constexpr Capabilities(std::span<const OperatorTypes> operators,
                         std::span<const FastFallback> fast_fallbacks)
      : operators_(operators), fast_fallbacks_(fast_fallbacks) {}

  constexpr std::span<const OperatorTypes> operators() const noexcept { return operators_; }
  // Returns the row of an operator; a row without types if there is none.
  const OperatorTypes& types_of(const Operator& op) const noexcept;

  // OK if there are kernels for `op` with operands of these types (null if an operand is absent).
  // Otherwise kUnsupported, for example "there is no kernel for Add of INT32, only of BF16, FP16,
  // FLOAT32". A sum or product over no elements, whose result has elements although an operand is
  // empty, has no kernel either. Requirement: infer_output() accepts the operands.
  Status check(const Operator& op, std::span<const Value* const> inputs) const;
  Status check(const Graph& graph, const Node& node) const;
  // Checks all nodes of a valid graph. The message names every node without a kernel.
  Status check(const Graph& graph) const;

  // Whether NPU partitions can run the node. They run every operator of the graph except
  // Fallbacks, and those Fallbacks that have fast kernels for the type of the first operand. CPU
  // partitions run all nodes but collectives.
  bool runs_on_npu(const Graph& graph, const Node& node) const noexcept;

 private:
  std::span<const OperatorTypes> operators_;
  std::span<const FastFallback> fast_fallbacks_;
};

// The name of the function of an operator with several functions: "Add" for a Binary, "Max" for a
// Pool. Null for all other operators.
const char* function_of(const Operator& op) noexcept;

}  // namespace millrace::graph
