// Graph: the intermediate representation of a model: typed operators (nodes) over values with
// static shapes. The compiler makes and rewrites graphs; the runtime reads them from an archive.
// Independent of ONNX and protobuf.
//
// A Graph is plain data: many threads may read it at the same time, but while one thread changes
// it, no other may use it.
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
#include "graph/precision.h"
#include "tensor/data_type.h"

namespace millrace::graph {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = 0xffffffffu;  // an optional operand that is absent

// Immutable bytes, and the owner that keeps them alive: a heap block, or the memory mapping of an
// archive.
struct Constant {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;

  // Makes a constant with its own copy of `bytes`.
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

// Affine quantisation of a value: its integers q represent the real values (q - zero_point) *
// scale. A real value is stored as the nearest q, ties to even, saturated to the type of the value.
//
// Scale and zero point hold for all elements (per tensor), or there is one of each per index of
// dimension `axis` (per axis).
struct Quantisation {
  std::vector<float> scales;         // finite, > 0
  std::vector<int32_t> zero_points;  // as many as scales; each fits the type of the value
  uint32_t axis = 0;                 // if there are several scales

  bool is_per_axis() const noexcept { return scales.size() > 1; }
  friend bool operator==(const Quantisation&, const Quantisation&) = default;
};

// An edge of the graph: a graph input, a constant, or the output of one node.
struct Value {
  std::string name;
  tensor::DataType type = tensor::DataType::kUnknown;  // INT8, UINT8 or INT32 if quantised
  Dims shape;
  std::optional<Constant> constant;  // dense, C order, exactly bytes() long
  // Most operators compute with the real values that a quantised value represents, and see it as
  // FLOAT32. Only Fallback and Cast read and make the integers themselves.
  std::optional<Quantisation> quantisation = {};

  size_t elements() const noexcept;  // product of shape; 1 for a scalar
  size_t bytes() const noexcept { return elements() * tensor::size_of(type); }
};

// A node of the imported model, by the names in that model.
struct Origin {
  std::string name;
  std::string type;  // "Gemm"; with its domain if that is not the standard's: "com.microsoft.Gelu"
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Node {
  std::string name;
  Operator op;
  std::vector<ValueId> inputs;  // kNoValue for an optional operand that is absent
  std::vector<ValueId> outputs;
  // The precision of a node on an NPU partition, if it differs from that of the model.
  std::optional<Precision> precision = {};
  // The imported nodes that this node computes: several if passes have merged them, none if it has
  // no counterpart in the model. For the compiler and its reports only: archives do not hold it.
  std::vector<Origin> origins = {};

  // inputs[index], or kNoValue past the end.
  ValueId input(size_t index) const noexcept {
    return index < inputs.size() ? inputs[index] : kNoValue;
  }
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;  // in topological order
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  ValueId add_value(Value value);
  ValueId add_constant(std::string name, tensor::DataType type, Dims shape, Constant constant);
};

// The type as which operators see a value: FLOAT32 if it is quantised.
inline tensor::DataType number_type(const Value& value) noexcept {
  return value.quantisation ? tensor::DataType::kFloat32 : value.type;
}

// Whether the operator computes with the real values that its operands represent. If not, it reads
// and makes the elements as they are stored.
inline bool computes_numbers(const Operator& op) noexcept {
  return !std::holds_alternative<Fallback>(op) && !std::holds_alternative<Cast>(op);
}

// Checks the invariants on which every reader of a graph relies: ids are in range; each value is
// made once and before its use; no node makes a graph input or a constant; each graph output is
// listed once and made by a node (an Identity if a model returns an input or a constant unchanged);
// sizes are within the limits of check_shape(); constants have the length of their shape;
// quantisations fit their values; and every output has the type (as number_type()) and the shape
// that the shape function gives. The device that loads a Fallback checks its outputs.
// kInvalidArgument names the node or value and the reason.
Status validate(const Graph& graph);

// Returns for each value the indices of the nodes that read it, once per node. Graph outputs are
// not included.
std::vector<std::vector<uint32_t>> consumers_of(const Graph& graph);

}  // namespace millrace::graph
