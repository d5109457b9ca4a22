// Graph: typed operators over values with static shapes. The compiler makes and rewrites graphs;
// the runtime reads them from an archive. Independent of ONNX and protobuf.
//
// A Graph is plain data: many threads may read it at the same time; while one thread changes it, no
// other may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/operators.h"
#include "tensor/data_type.h"

namespace millrace::graph {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = 0xffffffffu;  // an optional operand that is absent

// Immutable bytes, and the owner that keeps them alive: a heap block, or the mapping of an archive.
struct Constant {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;

  // A constant over its own copy of `bytes`.
  static Constant copy_of(std::span<const std::byte> bytes);
  template <class T>
  static Constant of(const std::vector<T>& elements) {
    return copy_of(std::as_bytes(std::span(elements)));
  }
  // Requirement: T is the element type of the value, and the bytes are aligned for it.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

struct Value {
  std::string name;
  tensor::DataType type = tensor::DataType::kUnknown;
  Dims shape;
  std::optional<Constant> constant;  // dense, C order, exactly bytes() long

  size_t elements() const noexcept;  // product of shape; 1 for a scalar
  size_t bytes() const noexcept { return elements() * tensor::size_of(type); }
};

// A node of the model that was imported, as that model calls it.
struct Origin {
  std::string name;
  std::string type;  // "Gemm"; "com.microsoft.Gelu" where the domain is not the standard's
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Node {
  std::string name;
  Operator op;
  std::vector<ValueId> inputs;  // kNoValue where an optional operand is absent
  std::vector<ValueId> outputs;
  // What it was made from: several where passes have merged them, none where nothing in the model
  // stands for it. For the compiler and its reports: archives do not hold it.
  std::vector<Origin> origins = {};

  // inputs[index], or kNoValue past the end.
  ValueId input(size_t index) const noexcept {
    return index < inputs.size() ? inputs[index] : kNoValue;
  }
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;  // in an order in which every value is made before it is used
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  ValueId add_value(Value value);
  ValueId add_constant(std::string name, tensor::DataType type, Dims shape, Constant constant);
};

// Checks what every reader relies on: ids are in range; each value is made once and before its use;
// no node makes a graph input or a constant; each graph output is listed once and made by a node
// (an Identity where a model returns an input or a constant unchanged); sizes are within
// check_shape's limits; constants have the length of their shape; and every
// output has the type and shape that the shape function gives (a Fallback's is checked by
// the device that loads it). kInvalidArgument names the node or value and the reason.
Status validate(const Graph& graph);

// For each value, the indices of the nodes that read it (once per node); graph outputs not
// included.
std::vector<std::vector<uint32_t>> consumers_of(const Graph& graph);

}  // namespace millrace::graph
