// The views of nodes that shape functions and kernels of fallback operators work with.
//
// Attributes are those that the operator's row in its table names, of the kind stated there; the
// code that makes a view has checked that.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "fallback/tensor_view.h"
#include "graph/shape.h"

namespace millrace::fallback {

// The elements of an operand of INT64 or INT32, which are known.
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
  // The attribute, or the default where the node has none.
  int64_t integer(const char* name, int64_t absent = 0) const noexcept;
  float real(const char* name, float absent = 0) const noexcept;
  std::string text(const char* name, const char* absent = "") const;
  // Null where the node has none.
  const Dims* integers(const char* name) const noexcept;
  const std::vector<float>* reals(const char* name) const noexcept;
  const std::vector<std::string>* texts(const char* name) const noexcept;

 private:
  template <class T>
  const T* find(const char* name) const noexcept;

  const graph::Fallback& op_;
  std::span<const TensorView> inputs_;
};

// A node whose outputs' types and dimensions are asked for. The elements of an operand may be known
// (constants; all of them while a program runs) or not.
class Inference : public NodeView {
 public:
  // `outputs` has an entry for each output of the node.
  Inference(const graph::Fallback& op, std::span<const TensorView> inputs,
            std::span<graph::ValueType> outputs)
      : NodeView(op, inputs), outputs_(outputs) {}

  size_t output_count() const noexcept { return outputs_.size(); }
  // An output that the node does not have is passed over.
  void set(size_t index, DataType type, Dims dims) {
    if (index < outputs_.size()) outputs_[index] = {type, std::move(dims)};
  }

  // kUnsupported where the elements of an operand are computed while the program runs. What lowers
  // the node finds in asked() that it has to wait for them: no shape function should look at the
  // data of an operand without this.
  Status require_elements(size_t index) const;
  const std::vector<size_t>& asked() const noexcept { return asked_; }
  // The elements of an operand that must be known, INT64 or INT32; kInvalidArgument where the type
  // is another.
  Result<Dims> known_integers(size_t index) const;
  // The same of one element.
  Result<int64_t> known_integer(size_t index) const;

 private:
  mutable std::vector<size_t> asked_;
  std::span<graph::ValueType> outputs_;
};

// A node that runs: all elements are known, and outputs have the types and dimensions that its
// shape function gave.
class Call : public NodeView {
 public:
  Call(const graph::Fallback& op, std::span<const TensorView> inputs,
       std::span<const OutputView> outputs, const void* prepared)
      : NodeView(op, inputs), outputs_(outputs), prepared_(prepared) {}

  size_t output_count() const noexcept { return outputs_.size(); }
  // Requirement: index < output_count().
  const OutputView& out(size_t index) const noexcept { return outputs_[index]; }
  // Requirement: the operator's row has a preparation, which makes a T.
  template <class T>
  const T& prepared() const noexcept {
    return *static_cast<const T*>(prepared_);
  }

 private:
  std::span<const OutputView> outputs_;
  const void* prepared_;
};

}  // namespace millrace::fallback
