// The table of fallback operators: for each operator of the ONNX standard or another domain, its
// signature, shape function and kernel. The file of each operator family states its rows;
// operator_table.cpp lists the families.
//
// Constant data: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "fallback/node_view.h"
#include "graph/type_set.h"

namespace millrace::fallback {

// In the order of graph::Attribute::Value. kNumbers stands for kIntegers or kFloats.
enum class AttributeKind : uint8_t {
  kInteger,
  kFloat,
  kText,
  kIntegers,
  kFloats,
  kTexts,
  kNumbers
};

struct AttributeSpec {
  const char* name;
  AttributeKind kind;
};

inline constexpr uint8_t kAnyNumber = 255;

// The allowed number of inputs or outputs, absent ones in between included. The first `least`
// inputs must be present.
struct Count {
  uint8_t least = 1, most = 1;
};

// kInvalidArgument unless a node may have `number` inputs or outputs, which `what` says.
Status check_count(const char* what, size_t number, Count allowed);
// kInvalidArgument unless a node may have `number` inputs, and those that must be present are. All
// inputs of an operator that takes any number must be present.
Status check_inputs(size_t number, Count allowed, const std::function<bool(size_t)>& is_present);

// Sets the types and dimensions of the outputs. kInvalidArgument: operands or attributes do not
// match the operator. kUnsupported: the dimensions depend on elements that are not known.
using ShapeFunction = Status (*)(Inference& node);
// Computes the elements of the outputs, of which at least one is not empty. kInvalidArgument: the
// elements of an operand are invalid, such as an index out of range. May throw std::bad_alloc,
// which run() turns into kOutOfMemory.
using Kernel = Status (*)(const Call& call);
// Precomputes what the kernel would otherwise derive from the attributes in every call, such as the
// trees of an ensemble: once per node, after which many threads may read it. Errors: invalid
// attributes.
using Preparation = Result<std::shared_ptr<const void>> (*)(const NodeView& node);

struct OperatorSpec {
  const char* name;  // as in graph::Fallback
  uint8_t since;     // the operator set that introduced it in its domain
  Count inputs, outputs;
  graph::TypeSet types;  // types of the first operand
  ShapeFunction shape;
  Kernel kernel;
  std::span<const AttributeSpec> attributes = {};
  // Whether dimensions of its outputs depend on all elements of an operand, as those of NonZero do.
  // Its shape function then does the work of the kernel, and is called when the operands are known.
  bool shape_follows_elements = false;
  Preparation prepare = nullptr;  // for kernels that call Call::prepared()
};

// Returns all families.
std::span<const std::span<const OperatorSpec>> operator_families() noexcept;
// Returns null if there is no operator with that name.
const OperatorSpec* find_operator(std::string_view name) noexcept;

}  // namespace millrace::fallback
