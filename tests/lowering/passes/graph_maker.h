// Builds small graphs in few words: shapes are inferred, names are made up, numbers are seeded.
#pragma once

#include <random>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

class GraphMaker {
 public:
  graph::Graph graph;

  graph::ValueId input(graph::Dims shape, tensor::DataType type = tensor::DataType::kFloat32);
  graph::ValueId constant(graph::Dims shape, const std::vector<float>& elements);
  graph::ValueId number(float value) { return constant({}, {value}); }
  // Numbers between -1 and 1.
  graph::ValueId random(graph::Dims shape);
  // Numbers between 0.5 and 1.5.
  graph::ValueId random_positive(graph::Dims shape);

  // Adds a node and returns its output. A failing shape function fails the test.
  graph::ValueId add(graph::Operator op, std::vector<graph::ValueId> inputs);
  graph::ValueId unary(graph::UnaryKind kind, graph::ValueId x, float alpha = 0, float beta = 0) {
    return add(graph::Unary{{kind, alpha, beta}}, {x});
  }
  graph::ValueId binary(graph::BinaryKind kind, graph::ValueId a, graph::ValueId b) {
    return add(graph::Binary{kind}, {a, b});
  }
  // A Conv of stride 1 with `kernel`, a random weight and padding that keeps the size.
  graph::ValueId conv(graph::ValueId x, int64_t channels, int64_t kernel = 1);

  // Adds a Requantise to integers of the type.
  graph::ValueId requantise(graph::ValueId x, graph::Quantisation quantisation,
                            tensor::DataType type = tensor::DataType::kUint8);
  // Adds a Requantise to FLOAT32.
  graph::ValueId dequantise(graph::ValueId x) { return add(graph::Requantise{}, {x}); }
  // A constant of INT8 that counts up from -3, over and over to 3.
  graph::ValueId quantised_constant(graph::Dims shape, graph::Quantisation quantisation);
  // The operators of the standard, with constant parameters of UINT8.
  graph::ValueId quantize_linear(graph::ValueId x, float scale, uint8_t zero_point);
  graph::ValueId dequantize_linear(graph::ValueId x, float scale, uint8_t zero_point);

  void output(graph::ValueId id) { graph.outputs.push_back(id); }

 private:
  graph::ValueId linear(const char* op, graph::ValueId x, float scale, uint8_t zero_point,
                        tensor::DataType to);
  graph::ValueId random_between(graph::Dims shape, float low, float high);
  std::mt19937 random_{1};
};

}  // namespace millrace::lowering
