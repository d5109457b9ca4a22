// Views of a node for the shape functions (Inference) and kernels (Call) of fallback operators.
//
// Attributes may only be read by the names and kinds in the row of the operator; the code that
// makes a view has checked the node against that row. A view refers to the node and its operands,
// which must outlive it. For one thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/shape.h"

namespace millrace::fallback {

// Returns the elements of an operand of INT64 or INT32. Requirement: they are known.
Dims integers_of(const TensorView& operand);

class NodeView {
 public:
  NodeView(const graph::Fallback& op, std::span<const TensorView> inputs)
      : op_(op), inputs_(inputs) {}

  const graph::Fallback& op() const noexcept { return op_; }
  size_t input_count() const noexcept { return inputs_.size(); }
  bool has(size_t index) const noexcept {
    return index < inputs_.size() && inputs_[index].present();
  }
  // Requirement: index < input_count().
  const TensorView& in(size_t index) const noexcept { return inputs_[index]; }
  std::span<const TensorView> inputs() const noexcept { return inputs_; }

  bool has_attribute(const char* name) const noexcept;
  // Return the attribute, or `absent` if the node does not have it.
  int64_t integer(const char* name, int64_t absent = 0) const noexcept;
  float real(const char* name, float absent = 0) const noexcept;
  std::string text(const char* name, const char* absent = "") const;
  // Return the list, or null if the node does not have it.
  const Dims* integers(const char* name) const noexcept;
  const std::vector<float>* reals(const char* name) const noexcept;
  const std::vector<std::string>* texts(const char* name) const noexcept;

 private:
  template <class T>
  const T* find(const char* name) const noexcept;

  const graph::Fallback& op_;
  std::span<const TensorView> inputs_;
};

// A node for which types and dimensions of the outputs are inferred. The elements of an operand may
// be known (constants; all operands while a program runs) or not.
class Inference : public NodeView {
 public:
  // `outputs` has an entry for each output of the node.
  Inference(const graph::Fallback& op, std::span<const TensorView> inputs,
            std::span<graph::ValueType> outputs)
      : NodeView(op, inputs), outputs_(outputs) {}

  size_t output_count() const noexcept { return outputs_.size(); }
  // Sets the type and dimensions of an output. Ignored if the node does not have that output.
  void set(size_t index, DataType type, Dims dims) {
    if (index < outputs_.size()) outputs_[index] = {type, std::move(dims)};
  }

  // kUnsupported if the elements of an operand are only computed while the program runs. asked()
  // then tells the lowering to wait for them. A shape function must call this before it reads the
  // data of an operand.
  Status require_elements(size_t index) const;
  const std::vector<size_t>& asked() const noexcept { return asked_; }
  // Returns the elements of an operand of INT64 or INT32, which must be known; kInvalidArgument if
  // it has another type.
  Result<Dims> known_integers(size_t index) const;
  // Returns the only element of an operand, like known_integers(); kInvalidArgument if it does not
  // have exactly one.
  Result<int64_t> known_integer(size_t index) const;

 private:
  mutable std::vector<size_t> asked_;
  std::span<graph::ValueType> outputs_;
};

// A node that runs: all elements are known, and the outputs have the types and dimensions that the
// shape function gave.
class Call : public NodeView {
 public:
  Call(const graph::Fallback& op, std::span<const TensorView> inputs,
       std::span<const OutputView> outputs, const void* prepared)
      : NodeView(op, inputs), outputs_(outputs), prepared_(prepared) {}

  size_t output_count() const noexcept { return outputs_.size(); }
  // Requirement: index < output_count().
  const OutputView& out(size_t index) const noexcept { return outputs_[index]; }
  // Returns what OperatorSpec::prepare has made for this node. Requirement: the operator has a
  // preparation, which makes a T.
  template <class T>
  const T& prepared() const noexcept {
    return *static_cast<const T*>(prepared_);
  }

 private:
  std::span<const OutputView> outputs_;
  const void* prepared_;
};

}  // namespace millrace::fallback
