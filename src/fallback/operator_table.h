// The table of fallback operators: what the ONNX standard says of each, its shape function and its
// kernel. One file per family states its rows; operator_table.cpp lists the families.
//
// Constant data: thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "fallback/node_view.h"
#include "graph/capability.h"

namespace millrace::fallback {

// In the order of graph::Attribute::Value; kNumbers is kIntegers or kFloats.
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

// How many there may be, absent ones in between included; of inputs, those before `least` are
// always there.
struct Count {
  uint8_t least = 1, most = 1;
};

// Fills the outputs' types and dimensions. kInvalidArgument where the operands or attributes do not
// fit the operator, kUnsupported where the dimensions follow from elements that are not known.
using ShapeFunction = Status (*)(Inference& node);
// Fills the outputs' elements; at least one output has some. kInvalidArgument where the elements of
// an operand are not valid, such as an index out of range. May throw std::bad_alloc; run() turns it
// into kOutOfMemory.
using Kernel = Status (*)(const Call& call);
// Precomputes what the kernel would otherwise derive from the attributes in every call, such as the
// trees of an ensemble: once per node, then read by many threads. Errors are the attributes'.
using Preparation = Result<std::shared_ptr<const void>> (*)(const NodeView& node);

struct OperatorSpec {
  const char* name;  // as graph::Fallback has it
  uint8_t since;     // the operator set that introduced it in its domain
  Count inputs, outputs;
  graph::TypeSet types;  // types of the first operand
  ShapeFunction shape;
  Kernel kernel;
  std::span<const AttributeSpec> attributes = {};
  // Whether dimensions of its outputs follow from all elements of an operand, as those of NonZero:
  // its shape function does the work of the kernel, so it is asked when the operands are at hand.
  bool shape_follows_elements = false;
  Preparation prepare = nullptr;  // for kernels that call Call::prepared()
};

// All families, each in an order of its own.
std::span<const std::span<const OperatorSpec>> operator_families() noexcept;
// Null where there is none of that name.
const OperatorSpec* find_operator(std::string_view name) noexcept;

}  // namespace millrace::fallback
