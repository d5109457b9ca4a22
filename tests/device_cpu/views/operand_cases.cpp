#include "tests/device_cpu/views/operand_cases.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph/capabilities.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using tensor::DataType;

using Cases = std::vector<OperandCase>;

const Dims kImage = {2, 16, 6, 8}, kChannels = {16};

// Makes numbers for which every function is defined.
Given positive(const Dims& dims, uint32_t seed) {
  Given given = input_of(dims, seed);
  for (float& element : given.elements.data) element = 0.5f + std::fabs(element);
  return given;
}

Given bytes(DataType type, const Dims& dims, bool is_constant = false) {
  Tensor elements = Tensor::numbers(dims, 5);
  for (float& element : elements.data)
    element = std::floor(element * 60) + (type == DataType::kInt8 ? 0.0f : 100.0f);
  return {type, elements, is_constant};
}

Given scalar(DataType type, float number) {
  return constant(type, {{}, {number}});
}

void add_products(Cases& cases) {
  const auto add = [&](const char* variant, graph::MatMul op, std::vector<Given> operands) {
    cases.push_back({std::string("MatMul ") + variant, op, std::move(operands)});
  };
  add("of matrices", {}, {input_of({5, 24}, 1), input_of({24, 17}, 2)});
  add("of one row", {}, {input_of({1, 24}, 1), input_of({24, 17}, 2)});
  add("of whole vectors", {}, {input_of({32, 32}, 1), input_of({32, 32}, 2)});
  add("with transposed operands", {true, true, 1, {}},
      {input_of({24, 5}, 1), input_of({17, 24}, 2)});
  add("with a column bias", {}, {input_of({5, 24}, 1), input_of({24, 17}, 2), input_of({17}, 3)});
  add("with alpha and a full bias", {false, false, 0.5f, {}},
      {input_of({5, 24}, 1), input_of({24, 17}, 2), input_of({5, 17}, 3)});
  add("with an activation", {false, false, 1, {graph::UnaryKind::kRelu, 0, 0}},
      {input_of({5, 24}, 1), input_of({24, 17}, 2)});
  add("of batches", {}, {input_of({2, 3, 8, 12}, 1), input_of({2, 3, 12, 10}, 2)});
  add("of batches that broadcast", {false, true, 1, {}},
      {input_of({2, 1, 8, 12}, 1), input_of({3, 10, 12}, 2)});
  add("of a batch and a matrix", {}, {input_of({3, 8, 12}, 1), input_of({12, 10}, 2)});
  add("of a vector", {}, {input_of({12}, 1), input_of({2, 12, 10}, 2)});
  add("by a vector", {}, {input_of({2, 8, 12}, 1), input_of({12}, 2)});
  add("by constants", {}, {input_of({5, 24}, 1), constant_of({24, 17}, 2), constant_of({17}, 3)});
  add("of transposed rows by constants", {true, false, 1, {}},
      {input_of({24, 5}, 1), constant_of({24, 17}, 2)});
  add("by a batch of constants", {}, {input_of({2, 8, 12}, 1), constant_of({2, 12, 10}, 2)});
  add("of constants", {}, {constant_of({5, 24}, 1), input_of({24, 17}, 2)});
}

void add_convolutions(Cases& cases) {
  const Dims one = {1, 1}, two = {2, 2}, none = {0, 0};
  const graph::Activation relu{graph::UnaryKind::kRelu, 0, 0};
  const auto add = [&](const char* variant, graph::Conv op, std::vector<Given> operands) {
    cases.push_back({std::string("Conv ") + variant, std::move(op), std::move(operands)});
  };
  const Given image = input_of(kImage, 1), residual = input_of({2, 32, 6, 8}, 4);
  add("of 3x3", {one, one, one, one, 1, relu},
      {image, constant_of({32, 16, 3, 3}, 2), constant_of({32}, 3)});
  add("of 1x1", {one, one, none, none, 1, {}}, {image, constant_of({32, 16, 1, 1}, 2)});
  add("with a stride", {two, one, one, one, 1, {}}, {image, constant_of({8, 16, 3, 3}, 2)});
  add("of few channels", {one, one, one, one, 1, {}},
      {input_of({1, 3, 9, 9}, 1), constant_of({16, 3, 3, 3}, 2)});
  add("of one channel", {one, one, one, one, 1, {}},
      {input_of({1, 1, 9, 9}, 1), constant_of({16, 1, 3, 3}, 2)});
  add("depthwise", {one, one, one, one, 16, relu}, {image, constant_of({16, 1, 3, 3}, 2)});
  add("of groups", {one, one, one, one, 2, {}}, {image, constant_of({32, 8, 3, 3}, 2)});
  add("with a residual", {one, one, none, none, 1, relu},
      {image, constant_of({32, 16, 1, 1}, 2), absent(), residual});
  add("with a slope", {one, one, none, none, 1, {}},
      {image, constant_of({32, 16, 1, 1}, 2), absent(), absent(), input_of({32}, 4)});
  add("with weights that are computed", {one, one, none, none, 1, {}},
      {image, input_of({32, 16, 1, 1}, 2), input_of({32}, 3)});
  add("of one dimension", {{1}, {1}, {1}, {1}, 1, {}},
      {input_of({2, 16, 9}, 1), constant_of({8, 16, 3}, 2)});
}

// Averages of powers of two are exact however they are summed.
void add_image_operators(Cases& cases) {
  const Dims one = {1, 1}, two = {2, 2}, none = {0, 0};
  const Given image = input_of(kImage, 1);
  graph::Pool pool{graph::PoolKind::kMax, two, two, one, none, none, none, false};
  cases.push_back({"Pool Max", pool, {image}});
  pool.kind = graph::PoolKind::kAverage;
  cases.push_back({"Pool Average", pool, {image}});
  cases.push_back({"GlobalPool Max", graph::GlobalPool{graph::PoolKind::kMax}, {image}});
  cases.push_back({"GlobalPool Average", graph::GlobalPool{}, {input_of({2, 16, 4, 8}, 1)}});
  const std::vector<Given> statistics = {image, constant_of(kChannels, 2),
                                         constant_of(kChannels, 3), constant_of(kChannels, 4),
                                         positive(kChannels, 5)};
  cases.push_back({"BatchNormalization", graph::BatchNormalization{}, statistics});
  graph::Resize resize{graph::ResizeMode::kNearest,
                       graph::CoordinateMode::kAsymmetric,
                       graph::NearestMode::kFloor,
                       {2, 16, 12, 16},
                       {1, 1, 2, 2}};
  cases.push_back({"Resize nearest", resize, {image}});
  resize.mode = graph::ResizeMode::kLinear;
  resize.coordinates = graph::CoordinateMode::kHalfPixel;
  cases.push_back({"Resize linear", resize, {image}});
}

void add_elementwise(Cases& cases) {
  for (int kind = 0; kind < graph::kUnaryKindCount; ++kind) {
    const graph::Unary op{{static_cast<graph::UnaryKind>(kind), 0.5f, 0.75f}};
    const std::string name = std::string("Unary ") + graph::name_of(op.function.kind);
    cases.push_back({name, op, {positive(kImage, 1)}});
    cases.push_back({name + " of a matrix", op, {positive({5, 33}, 1)}});
  }
  for (int kind = 0; kind < graph::kBinaryKindCount; ++kind) {
    const graph::Binary op{static_cast<graph::BinaryKind>(kind)};
    const std::string name = std::string("Binary ") + graph::name_of(op.kind);
    cases.push_back({name, op, {positive(kImage, 1), positive(kImage, 2)}});
    cases.push_back({name + " per channel", op, {positive(kImage, 1), positive({16, 1, 1}, 2)}});
    cases.push_back({name + " of rows", op, {positive({1, 8}, 1), positive(kImage, 2)}});
    cases.push_back({name + " with a number", op, {positive(kImage, 1), constant_of({}, 2)}});
  }
}

void add_reductions(Cases& cases) {
  for (int kind = 0; kind < graph::kReduceKindCount; ++kind)
    for (const Dims& axes : {Dims{1}, Dims{2, 3}, Dims{3}}) {
      const graph::Reduce op{static_cast<graph::ReduceKind>(kind), axes, true};
      cases.push_back(
          {std::string("Reduce ") + graph::function_of(op) + " from " + std::to_string(axes[0]),
           op,
           {positive({2, 16, 4, 8}, 1)}});
    }
  for (const bool log : {false, true})
    for (const int64_t axis : {1, 3}) {
      const graph::Softmax op{axis, log};
      cases.push_back({"Softmax", op, {input_of(kImage, 1)}});
      cases.push_back({"Softmax of many rows", op, {input_of({8, 8, 8, 5}, 1)}});
    }
}

void add_movements(Cases& cases) {
  const Given image = input_of(kImage, 1);
  cases.push_back({"Concat", graph::Concat{1}, {image, input_of({2, 3, 6, 8}, 2)}});
  cases.push_back({"Concat of rows", graph::Concat{0}, {input_of({2, 9}, 1), input_of({3, 9}, 2)}});
  cases.push_back({"Concat of integers",
                   graph::Concat{1},
                   {bytes(DataType::kUint8, {2, 5}), bytes(DataType::kUint8, {2, 3})}});
  cases.push_back({"Reshape", graph::Reshape{{2, 4, 4, 48}}, {image}});
  cases.push_back({"Transpose", graph::Transpose{{0, 2, 3, 1}}, {image}});
  cases.push_back({"Slice", graph::Slice{{0, 3, 1, 2}, {2, 7, 4, 3}, {1, 1, 1, 1}}, {image}});
  cases.push_back(
      {"Slice with steps", graph::Slice{{1, 3, 1, 7}, {1, 4, 4, 3}, {1, 2, 1, -2}}, {image}});
  cases.push_back({"Gather of one", graph::Gather{1}, {image, scalar(DataType::kInt64, 3)}});
  cases.push_back({"Gather", graph::Gather{1}, {image, constant(DataType::kInt64, {{2}, {5, 1}})}});
  cases.push_back({"Gather at run time",
                   graph::Gather{0},
                   {input_of({6, 5}, 1), input(DataType::kInt64, {{3}, {5, 0, 2}})}});
  cases.push_back(
      {"Pad", graph::Pad{graph::PadMode::kConstant, {0, 1, 0, 2}, {0, 0, 3, -1}, 0.5f}, {image}});
  cases.push_back({"Expand", graph::Expand{{2, 3, 5}}, {input_of({3, 1}, 1)}});
  cases.push_back({"Cast", graph::Cast{DataType::kInt32}, {image}});
  cases.push_back({"Cast to floating point", graph::Cast{}, {bytes(DataType::kInt8, {4, 7})}});
}

void add_normalizations(Cases& cases) {
  const Given image = input_of({2, 6, 5, 7}, 1), scale = input_of({6}, 2), bias = input_of({6}, 3);
  const auto add = [&](graph::Fallback op, std::vector<Given> operands) {
    const std::string name = op.name;
    cases.push_back({name, std::move(op), std::move(operands)});
  };
  add({"GroupNormalization", {{"num_groups", int64_t{2}}}}, {image, scale, bias});
  add({"InstanceNormalization", {}}, {image, scale, bias});
  add({"LayerNormalization", {}}, {input_of({2, 7, 48}, 1), input_of({48}, 2), input_of({48}, 3)});
  for (const char* name : {"RMSNormalization", "SimplifiedLayerNormalization"})
    add({name, {}}, {input_of({2, 7, 48}, 1), input_of({48}, 2)});
  for (const char* name : {"Gelu", "com.microsoft.Gelu", "com.microsoft.QuickGelu"})
    add({name, {}}, {input_of({2, 5, 7, 9}, 1)});
  add({"millrace.Attention", {{"scale", 0.5f}}},
      {input_of({2, 3, 10, 12}, 1), input_of({2, 3, 14, 12}, 2), input_of({2, 3, 14, 8}, 3),
       input_of({10, 14}, 4)});
  add({"millrace.CachedAttention", {{"scale", 0.5f}}},
      {input_of({2, 6, 1, 12}, 1), input_of({2, 3, 14, 12}, 2), input_of({2, 3, 14, 8}, 3),
       constant(DataType::kInt64, {{2}, {14, 9}})});
  Given weights = constant(DataType::kUint8, Tensor::numbers({7, 2, 16}, 2));
  for (float& byte : weights.elements.data) byte = std::floor(std::fabs(byte) * 255);
  add({"com.microsoft.MatMulNBits",
       {{"K", int64_t{40}}, {"N", int64_t{7}}, {"bits", int64_t{4}}, {"block_size", int64_t{32}}}},
      {input_of({3, 40}, 1), weights, constant_of({14}, 3)});
  add({"ConvTranspose", {{"strides", Dims{2, 2}}}},
      {input_of({1, 16, 5, 5}, 1), constant_of({16, 8, 3, 3}, 2), constant_of({8}, 3)});
}

void add_recurrences(Cases& cases) {
  constexpr int64_t kSteps = 4, kInput = 16, kUnits = 32;
  const auto add = [&](const char* op, int64_t gates, int64_t batch, size_t outputs, bool cells) {
    std::vector<Given> operands = {input_of({kSteps, batch, kInput}, 1),
                                   constant_of({1, gates * kUnits, kInput}, 2),
                                   constant_of({1, gates * kUnits, kUnits}, 3),
                                   constant_of({1, 2 * gates * kUnits}, 4),
                                   absent(),
                                   input_of({1, batch, kUnits}, 5)};
    if (cells) operands.push_back(input_of({1, batch, kUnits}, 6));
    const std::string name = std::string(op) + " of a batch of " + std::to_string(batch);
    cases.push_back({name, graph::Fallback{op, {}}, std::move(operands), outputs});
  };
  for (const int64_t batch : {1, 3}) {
    add("LSTM", 4, batch, 3, true);
    add("GRU", 3, batch, 2, false);
    add("RNN", 1, batch, 2, false);
  }
  add("millrace.RoundedLSTM", 4, 1, 3, true);
}

void add_integers(Cases& cases) {
  const auto add = [&](graph::Fallback op, std::vector<Given> operands, size_t outputs = 1) {
    const std::string name = op.name;
    cases.push_back({name, std::move(op), std::move(operands), outputs});
  };
  const Given image = bytes(DataType::kUint8, {1, 16, 5, 6}),
              filters = bytes(DataType::kInt8, {8, 16, 3, 3}, true),
              matrix = bytes(DataType::kUint8, {5, 40}),
              weights = bytes(DataType::kInt8, {40, 33}, true),
              zero = scalar(DataType::kUint8, 100);
  add({"ConvInteger", {}}, {image, filters, zero});
  add({"millrace.ConvIntegerToFloat", {}},
      {image, filters, zero, absent(), input_of({8}, 3), input_of({8}, 4)});
  add({"MatMulInteger", {}}, {matrix, weights, zero});
  add({"millrace.MatMulIntegerToFloat", {}},
      {matrix, weights, zero, absent(), input_of({33}, 3), input_of({33}, 4)});
  add({"QuantizeLinear", {}}, {input_of(kImage, 1), scalar(DataType::kFloat32, 0.03125f), zero});
  add({"DequantizeLinear", {}}, {image, input(DataType::kFloat32, {{}, {0.25f}}), zero});
  add({"DynamicQuantizeLinear", {}}, {input_of(kImage, 1)}, 3);
}

Cases make_cases() {
  Cases cases;
  add_products(cases);
  add_convolutions(cases);
  add_image_operators(cases);
  add_elementwise(cases);
  add_reductions(cases);
  add_movements(cases);
  add_normalizations(cases);
  add_recurrences(cases);
  add_integers(cases);
  return cases;
}

template <class T>
graph::ValueId integers(ModelBuilder& builder, const Given& given) {
  std::vector<T> elements;
  for (const float element : given.elements.data) elements.push_back(static_cast<T>(element));
  return builder.integers(given.elements.dims, given.type, elements);
}

}  // namespace

const std::vector<OperandCase>& operand_cases() {
  static const Cases kCases = make_cases();
  return kCases;
}

graph::ValueId add_constant(ModelBuilder& builder, const Given& given) {
  if (given.type == DataType::kInt8) return integers<int8_t>(builder, given);
  if (given.type == DataType::kUint8) return integers<uint8_t>(builder, given);
  if (given.type == DataType::kInt64) return integers<int64_t>(builder, given);
  return builder.constant(given.elements);
}

std::vector<graph::ValueId> add_node(ModelBuilder& builder, const OperandCase& test,
                                     const std::vector<graph::ValueId>& operands) {
  if (const auto* fallback = std::get_if<graph::Fallback>(&test.op))
    return builder.fallback(*fallback, operands, test.outputs);
  return {builder.node(test.op, operands)};
}

}  // namespace millrace::device::cpu
