// Makes a graph that grows node by node, and the expected value of each of its values.
//
// The plain kernels compute every value as soon as its node is added. The maker also records how
// far a device may be from it: its kernels add in other orders, round to the precision of the
// graph, and store integers that are off by one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/random_graphs/random.h"

namespace millrace::test {

using graph::Dims;
using graph::ValueId;
using tensor::DataType;

// The numbers with which the graph computes: quantised integers represent FP32 numbers.
enum class Numbers { kFp32, kBf16, kInt8 };

class GraphMaker {
 public:
  GraphMaker(Random& random, Numbers numbers, int64_t largest_dim);

  Random& random() { return random_; }
  Numbers numbers() const { return numbers_; }
  device::cpu::ModelBuilder& builder() { return builder_; }
  const graph::Graph& graph() const { return builder_.graph(); }

  // These functions describe values.
  const Dims& dims(ValueId id) const { return graph().values[id].shape; }
  DataType type(ValueId id) const { return graph().values[id].type; }
  bool is_quantised(ValueId id) const { return graph().values[id].quantisation.has_value(); }
  // Returns whether operators of the graph take the value as numbers.
  bool is_number(ValueId id) const { return type(id) == DataType::kFloat32 || is_quantised(id); }
  // Returns the results of the plain kernels, as numbers.
  const std::vector<float>& expected(ValueId id) const { return facts_[id].numbers; }
  // Returns the allowed error; and the largest and the smallest magnitude of the value.
  float error(ValueId id) const { return facts_[id].error; }
  float largest(ValueId id) const { return facts_[id].largest; }
  float smallest(ValueId id) const { return facts_[id].smallest; }
  // The error that those of the factors, which may both be zeros, make in a product of elements.
  float error_of_product(ValueId a, ValueId b) const {
    return error(a) * largest(b) + error(b) * largest(a) + error(a) * error(b);
  }

  // Returns a dimension for a new value.
  int64_t new_dim() { return random_.between(1, largest_dim_); }
  // Returns an existing value that fits; later ones are chosen more often.
  std::optional<ValueId> any(const std::function<bool(ValueId)>& fits);
  std::optional<ValueId> any_number(size_t least_rank, size_t most_rank);
  // Returns numbers of these dimensions: an existing or new value, or a part of such a value.
  ValueId like(const Dims& dims);
  ValueId input(const Dims& dims);
  ValueId input_of_integers(const Dims& dims, DataType type, const std::vector<int64_t>& elements);
  // `scale` is a power of two.
  ValueId constant(const Dims& dims, float scale = 1);
  ValueId number(float number);
  // Returns a constant, mostly quantised where the graph computes with integers.
  ValueId weights(const Dims& dims, float scale);
  ValueId constant_integers(const Dims& dims, DataType type, const std::vector<int64_t>& elements);

  // Adds a node that moves elements.
  ValueId move(const graph::Operator& op, const std::vector<ValueId>& inputs);
  // Adds a node that computes, and returns its first output. `passed` is the error that follows
  // from operands' errors; the node rounds numbers as large as its results and `scale`.
  ValueId compute(const graph::Operator& op, const std::vector<ValueId>& inputs, float passed,
                  float scale = 0, size_t outputs = 1);
  // Adds a node whose results are exactly those of the plain kernels.
  ValueId compute_exactly(const graph::Operator& op, const std::vector<ValueId>& inputs,
                          size_t outputs = 1);
  // Returns the value as integers; if it is quantised, with other parameters.
  ValueId quantise(ValueId id);
  // Returns the value as FLOAT32.
  ValueId dequantise(ValueId id);

  // Makes outputs of all unread values, and of some others. False where there are none.
  bool finish();

  const std::vector<device::cpu::Tensor>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }

 private:
  struct Facts {
    std::vector<float> numbers;
    float error = 0, largest = 0, smallest = 0;
    bool is_usable = false;
  };

  void know(ValueId id, graph::Value value, float error);
  ValueId new_whole(const device::cpu::Tensor& elements);
  ValueId new_part(const Dims& dims);
  std::optional<ValueId> part_of_any(const Dims& dims);
  std::vector<ValueId> add(const graph::Operator& op, const std::vector<ValueId>& inputs,
                           size_t outputs);
  std::vector<graph::Value> expected_of_last() const;
  struct Form {
    DataType type;
    graph::Quantisation quantisation;
  };
  Form form_of(ValueId id) const;
  Form new_form(ValueId id);
  float step(ValueId id) const { return graph().values[id].quantisation->scales[0]; }
  // Quantises the result of the last node.
  void quantise_last(const Form& form);
  float rounding(ValueId id, float scale) const;

  Random& random_;
  const Numbers numbers_;
  const int64_t largest_dim_;
  device::cpu::ModelBuilder builder_;
  std::vector<graph::Value> values_;  // as constants, by number
  std::vector<Facts> facts_;          // by number
  std::vector<ValueId> pool_;         // values that nodes may read, without constants
  std::vector<device::cpu::Tensor> inputs_;
  std::vector<ValueId> outputs_;
};

// Adds one or a few nodes of one kind; false where no existing value fits.
using AddNodes = bool (*)(GraphMaker& maker);
struct Kind {
  const char* name;
  int weight;
  AddNodes add;
};
std::span<const Kind> movements();
std::span<const Kind> functions();
std::span<const Kind> products();
std::span<const Kind> integers();

}  // namespace millrace::test
