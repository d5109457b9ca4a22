#include "tests/random_graphs/graph_maker.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "lowering/evaluate/evaluate.h"
#include "tests/device_cpu/views/part.h"
#include "tests/lowering/passes/interpreter.h"

namespace millrace::test {

using device::cpu::Part;
using device::cpu::Tensor;
using graph::Operator;

namespace {

constexpr size_t kMostElements = 1 << 16;
// Beyond this magnitude, errors are meaningless.
constexpr float kLargest = 1e6f;

// Returns the error of a kernel, relative to the numbers that it adds.
float precision_of(Numbers numbers) {
  return numbers == Numbers::kBf16 ? 1 / 256.0f : 2e-5f;
}

graph::Value as_constant(const Tensor& tensor) {
  return {"", DataType::kFloat32, tensor.dims, graph::Constant::of(tensor.data)};
}

bool keeps_quantisation(const graph::Graph& graph, const graph::Node& node) {
  const auto& form = graph.values[node.inputs[0]].quantisation;
  return form && std::ranges::all_of(node.inputs, [&](ValueId id) {
           const graph::Value& value = graph.values[id];
           return !graph::computes_numbers(node.op) || !tensor::is_floating(value.type);
         });
}

}  // namespace

GraphMaker::GraphMaker(Random& random, Numbers numbers, int64_t largest_dim)
    : random_(random),
      numbers_(numbers),
      largest_dim_(largest_dim),
      builder_(numbers == Numbers::kBf16 ? graph::Precision::kBf16 : graph::Precision::kFp32) {}

std::optional<ValueId> GraphMaker::any(const std::function<bool(ValueId)>& fits) {
  std::vector<ValueId> fitting;
  std::ranges::copy_if(pool_, std::back_inserter(fitting), fits);
  if (fitting.empty()) return std::nullopt;
  return fitting[std::max(random_.below(fitting.size()), random_.below(fitting.size()))];
}

std::optional<ValueId> GraphMaker::any_number(size_t least_rank, size_t most_rank) {
  return any([&](ValueId id) {
    return is_number(id) && dims(id).size() >= least_rank && dims(id).size() <= most_rank;
  });
}

void GraphMaker::know(ValueId id, graph::Value value, float error) {
  values_.resize(graph().values.size());
  facts_.resize(graph().values.size());
  value.quantisation = graph().values[id].quantisation;
  Facts& facts = facts_[id];
  if (value.quantisation) {
    const graph::Value* operand = &value;
    facts.numbers =
        lowering::numbers_of(lowering::evaluate(graph::Requantise{}, {&operand, 1}).value());
  } else {
    facts.numbers = lowering::numbers_of(value);
  }
  values_[id] = std::move(value);
  facts.error = error;
  facts.largest = 0;
  facts.smallest = facts.numbers.empty() ? 0 : std::fabs(facts.numbers[0]);
  facts.is_usable = true;
  for (const float number : facts.numbers) {
    facts.largest = std::max(facts.largest, std::fabs(number));
    facts.smallest = std::min(facts.smallest, std::fabs(number));
    facts.is_usable = facts.is_usable && std::fabs(number) < kLargest;
  }
  if (facts.is_usable && facts.numbers.size() <= kMostElements && !graph().values[id].constant)
    pool_.push_back(id);
}

ValueId GraphMaker::input(const Dims& dims) {
  const Tensor numbers = Tensor::numbers(dims, static_cast<uint32_t>(random_.below(1 << 20)));
  return new_whole(numbers);
}

ValueId GraphMaker::new_whole(const Tensor& elements) {
  const ValueId id = builder_.input(elements.dims);
  inputs_.push_back(elements);
  know(id, as_constant(elements), 0);
  return id;
}

ValueId GraphMaker::input_of_integers(const Dims& dims, DataType type,
                                      const std::vector<int64_t>& elements) {
  const ValueId id = builder_.input(dims, type);
  inputs_.push_back({dims, {elements.begin(), elements.end()}});
  const graph::Value floats = as_constant(inputs_.back());
  const graph::Value* operand = &floats;
  know(id, lowering::evaluate(graph::Cast{type}, {&operand, 1}).value(), 0);
  return id;
}

ValueId GraphMaker::constant(const Dims& dims, float scale) {
  Tensor numbers = Tensor::numbers(dims, static_cast<uint32_t>(random_.below(1 << 20)));
  for (float& element : numbers.data) element *= scale;
  const ValueId id = builder_.constant(numbers);
  know(id, graph().values[id], 0);
  return id;
}

ValueId GraphMaker::number(float number) {
  const ValueId id = builder_.constant({{}, {number}});
  know(id, graph().values[id], 0);
  return id;
}

ValueId GraphMaker::weights(const Dims& dims, float scale) {
  if (numbers_ != Numbers::kInt8 || random_.chance(25)) return constant(dims, scale);
  std::vector<int8_t> elements(static_cast<size_t>(device::cpu::elements_of(dims)));
  for (int8_t& element : elements) element = static_cast<int8_t>(random_.between(-127, 127));
  const graph::Quantisation in_steps{{scale / 128}, {0}, 0};
  const ValueId id = builder_.quantised_constant(dims, DataType::kInt8, elements, in_steps);
  know(id, graph().values[id], 0);
  return id;
}

ValueId GraphMaker::constant_integers(const Dims& dims, DataType type,
                                      const std::vector<int64_t>& elements) {
  const ValueId id =
      type == DataType::kInt64 ? builder_.integers(dims, type, elements)
      : type == DataType::kInt32
          ? builder_.integers(dims, type, std::vector<int32_t>(elements.begin(), elements.end()))
          : builder_.integers(dims, type, std::vector<int8_t>(elements.begin(), elements.end()));
  know(id, graph().values[id], 0);
  return id;
}

// Makes a part of a new tensor, which is an input, a constant, or computed from an input.
ValueId GraphMaker::new_part(const Dims& dims) {
  std::vector<Part> parts;
  for (const Part part : device::cpu::kParts)
    if (is_possible(part, dims)) parts.push_back(part);
  const Part part = random_.one_of(parts);
  Tensor whole = embed(part, Tensor::zeros(dims), 0);
  whole = Tensor::numbers(whole.dims, static_cast<uint32_t>(random_.below(1 << 20)));
  ValueId id = random_.chance(80) ? new_whole(whole) : constant(whole.dims);
  if (random_.chance(40)) id = move(graph::Unary{{graph::UnaryKind::kNeg, 0, 0}}, {id});
  if (numbers_ == Numbers::kInt8 && random_.chance(40)) id = quantise(id);
  const device::cpu::AddNode add = [this](const Operator& op, const std::vector<ValueId>& inputs) {
    const bool has_index = inputs.size() > 1;
    if (has_index) know(inputs[1], graph().values[inputs[1]], 0);
    return move(op, inputs);
  };
  return take(builder_, add, part, id, dims);
}

std::optional<ValueId> GraphMaker::part_of_any(const Dims& wanted) {
  const auto whole = any([&](ValueId id) {
    return is_number(id) && dims(id).size() == wanted.size() && dims(id) != wanted &&
           std::ranges::equal(wanted, dims(id), std::ranges::less_equal());
  });
  if (!whole) return std::nullopt;
  Dims begin;
  for (size_t i = 0; i < wanted.size(); ++i)
    begin.push_back(random_.between(0, dims(*whole)[i] - wanted[i]));
  return move(graph::Slice{begin, wanted, Dims(wanted.size(), 1)}, {*whole});
}

ValueId GraphMaker::like(const Dims& wanted) {
  if (random_.chance(35))
    if (const auto same = any([&](ValueId id) { return is_number(id) && dims(id) == wanted; }))
      return *same;
  if (random_.chance(40))
    if (const auto part = part_of_any(wanted)) return *part;
  if (random_.chance(15)) return constant(wanted);
  if (random_.chance(60)) return new_part(wanted);
  const ValueId id = input(wanted);
  return numbers_ == Numbers::kInt8 && random_.chance(60) ? quantise(id) : id;
}

std::vector<ValueId> GraphMaker::add(const Operator& op, const std::vector<ValueId>& inputs,
                                     size_t outputs) {
  if (const auto* fallback = std::get_if<graph::Fallback>(&op))
    return builder_.fallback(*fallback, inputs, outputs);
  return {builder_.node(op, inputs)};
}

std::vector<graph::Value> GraphMaker::expected_of_last() const {
  const graph::Node& node = graph().nodes.back();
  if (std::holds_alternative<graph::Cast>(node.op)) {
    const graph::Value* operand = &values_[node.inputs[0]];
    return {lowering::evaluate(node.op, {&operand, 1}).value()};
  }
  auto values = lowering::compute_node(graph(), node, values_);
  if (!values.ok()) throw std::runtime_error(node.name + ": " + values.status().to_string());
  return *std::move(values);
}

float GraphMaker::rounding(ValueId id, float scale) const {
  return precision_of(numbers_) * std::max(largest(id), scale);
}

ValueId GraphMaker::move(const Operator& op, const std::vector<ValueId>& inputs) {
  const ValueId id = add(op, inputs, 1)[0];
  float most = 0;
  for (const ValueId input : inputs) most = std::max(most, error(input));
  const graph::Node& node = graph().nodes.back();
  if (keeps_quantisation(graph(), node)) quantise_last(form_of(inputs[0]));
  know(id, expected_of_last()[0], most);
  // This happens where operands have other steps, or a function is computed with integers.
  if (is_quantised(id) && (inputs.size() > 1 || std::holds_alternative<graph::Unary>(op)))
    facts_[id].error += step(id);
  return id;
}

ValueId GraphMaker::compute(const Operator& op, const std::vector<ValueId>& inputs, float passed,
                            float scale, size_t outputs) {
  const std::vector<ValueId> ids = add(op, inputs, outputs);
  const std::vector<graph::Value> results = expected_of_last();
  for (size_t i = 0; i < ids.size(); ++i) {
    know(ids[i], results[i], passed);
    facts_[ids[i]].error += rounding(ids[i], scale);
  }
  const bool has_steps = numbers_ == Numbers::kInt8 && graph::computes_numbers(op) &&
                         !pool_.empty() && pool_.back() == ids[0] && random_.chance(70);
  if (!has_steps) return ids[0];
  quantise_last(new_form(ids[0]));
  pool_.pop_back();
  know(ids[0], expected_of_last()[0], error(ids[0]) + step(ids[0]));
  return ids[0];
}

ValueId GraphMaker::compute_exactly(const Operator& op, const std::vector<ValueId>& inputs,
                                    size_t outputs) {
  const std::vector<ValueId> ids = add(op, inputs, outputs);
  const std::vector<graph::Value> results = expected_of_last();
  for (size_t i = 0; i < ids.size(); ++i) know(ids[i], results[i], 0);
  return ids[0];
}

GraphMaker::Form GraphMaker::form_of(ValueId id) const {
  return {type(id), *graph().values[id].quantisation};
}

// Most of the range is used; some numbers are outside it.
GraphMaker::Form GraphMaker::new_form(ValueId id) {
  const float most = std::max(largest(id), 1 / 64.0f);
  const float step = std::exp2(std::ceil(std::log2(most / 120)));
  const bool is_signed = random_.chance(50);
  const int64_t middle = is_signed ? 0 : 128;
  const auto zero_point = static_cast<int32_t>(middle + random_.between(-9, 9));
  return {is_signed ? DataType::kInt8 : DataType::kUint8, {{step}, {zero_point}, 0}};
}

void GraphMaker::quantise_last(const Form& form) {
  builder_.quantise(graph().nodes.back().outputs[0], form.type, form.quantisation);
}

ValueId GraphMaker::quantise(ValueId id) {
  const ValueId result = builder_.node(graph::Requantise{}, {id});
  quantise_last(new_form(id));
  know(result, expected_of_last()[0], error(id) == 0 ? 0 : error(id) + step(result));
  return result;
}

ValueId GraphMaker::dequantise(ValueId id) {
  const ValueId result = builder_.node(graph::Requantise{}, {id});
  know(result, expected_of_last()[0], error(id));
  return result;
}

bool GraphMaker::finish() {
  std::vector<bool> is_read(graph().values.size()), is_made(graph().values.size());
  for (const graph::Node& node : graph().nodes) {
    for (const ValueId id : node.outputs) is_made[id] = true;
    for (const ValueId id : node.inputs)
      if (id != graph::kNoValue) is_read[id] = true;
  }
  for (const ValueId id : std::vector(pool_)) {
    if (!is_made[id] || (is_read[id] && !random_.chance(12))) continue;
    outputs_.push_back(is_quantised(id) ? dequantise(id) : id);
    builder_.output(outputs_.back());
  }
  return !outputs_.empty();
}

}  // namespace millrace::test
