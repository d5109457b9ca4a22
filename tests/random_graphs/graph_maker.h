// A graph that grows node by node, with what each of its values must be.
//
// The plain kernels compute every value as soon as its node is there. Beside it stands how far from
// that a device may be: its kernels add up in other orders, round to the precision of the graph,
// and store integers one step further.
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

// What the graph computes with: integers stand for FP32 numbers in steps.
enum class Numbers { kFp32, kBf16, kInt8 };

class GraphMaker {
 public:
  GraphMaker(Random& random, Numbers numbers, int64_t largest_dim);

  Random& random() { return random_; }
  Numbers numbers() const { return numbers_; }
  device::cpu::ModelBuilder& builder() { return builder_; }
  const graph::Graph& graph() const { return builder_.graph(); }

  // Values.
  const Dims& dims(ValueId id) const { return graph().values[id].shape; }
  DataType type(ValueId id) const { return graph().values[id].type; }
  bool is_quantised(ValueId id) const { return graph().values[id].quantisation.has_value(); }
  // Whether operators of the graph see it as numbers.
  bool is_number(ValueId id) const { return type(id) == DataType::kFloat32 || is_quantised(id); }
  // What the plain kernels give, as numbers.
  const std::vector<float>& expected(ValueId id) const { return facts_[id].numbers; }
  // How far from that the value may be, the largest and the smallest magnitude in it.
  float error(ValueId id) const { return facts_[id].error; }
  float largest(ValueId id) const { return facts_[id].largest; }
  float smallest(ValueId id) const { return facts_[id].smallest; }

  // A dimension of a new value.
  int64_t new_dim() { return random_.between(1, largest_dim_); }
  // One of the values so far that fits, later ones more often.
  std::optional<ValueId> any(const std::function<bool(ValueId)>& fits);
  std::optional<ValueId> any_number(size_t least_rank, size_t most_rank);
  // Numbers of these dimensions: a value so far, a part of one or of a new one, or a new one.
  ValueId like(const Dims& dims);
  ValueId input(const Dims& dims);
  ValueId input_of_integers(const Dims& dims, DataType type, const std::vector<int64_t>& elements);
  // `scale` is a power of two.
  ValueId constant(const Dims& dims, float scale = 1);
  ValueId number(float number);
  // A constant, most often in steps where the graph computes with integers.
  ValueId weights(const Dims& dims, float scale);
  ValueId constant_integers(const Dims& dims, DataType type, const std::vector<int64_t>& elements);

  // Adds a node that moves elements.
  ValueId move(const graph::Operator& op, const std::vector<ValueId>& inputs);
  // Adds a node that computes, and gives the first of its outputs: `passed` is what becomes of the
  // errors of its operands, and it rounds numbers as large as its results and `scale`.
  ValueId compute(const graph::Operator& op, const std::vector<ValueId>& inputs, float passed,
                  float scale = 0, size_t outputs = 1);
  // Adds a node that gives exactly what the plain kernels give.
  ValueId compute_exactly(const graph::Operator& op, const std::vector<ValueId>& inputs,
                          size_t outputs = 1);
  // The value in integers, or anew in others.
  ValueId quantise(ValueId id);
  // The value as FLOAT32.
  ValueId dequantise(ValueId id);

  // Makes outputs of all that nothing reads, and of some other values. False where there are none.
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
  // Makes integers of what the last node gives.
  void quantise_last(const Form& form);
  float rounding(ValueId id, float scale) const;

  Random& random_;
  const Numbers numbers_;
  const int64_t largest_dim_;
  device::cpu::ModelBuilder builder_;
  std::vector<graph::Value> values_;  // as constants, by number
  std::vector<Facts> facts_;          // by number
  std::vector<ValueId> pool_;         // what nodes may read, constants left out
  std::vector<device::cpu::Tensor> inputs_;
  std::vector<ValueId> outputs_;
};

// Adds a node, or a few, of one kind; false where no value so far fits.
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
