// The smallest model with everything a boundary can have: one 3x3 convolution with bias and Relu.
//
//   "data"  [1, 3, 4, 4]   HW view [4, 1, 4, 1, 4]  HCWNC4   (one padded channel)
//   "probs" [1, 10, 4, 4]  HW view [4, 2, 4, 1, 8]  HCWNC8   (six padded channels)
//
// FLOAT32 in the CPU views; in the HW views the type of the precision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/compiled_model.h"
#include "model/archive_writer.h"
#include "tensor/desc.h"

namespace millrace::test {

inline constexpr uint32_t kTinyInputChannels = 3;
inline constexpr uint32_t kTinyOutputChannels = 10;
inline constexpr uint32_t kTinySide = 4;
inline constexpr const char* kTinyInput = "data";
inline constexpr const char* kTinyOutput = "probs";

struct TinyModelOptions {
  uint32_t batch_size = 1;
  graph::Precision precision = graph::Precision::kFp32;
  bool hw_views = true;  // false: both boundaries have a CPU view only
  // True: the convolution is followed by an Abs on a CPU partition and a Relu on an NPU partition,
  // which do not change its results.
  bool cpu_partition = false;
};

// Small values with short binary fractions, so that sums are exact in any order.
std::vector<float> tiny_numbers(size_t count, int seed);

// The boundary tensor of a value, in the views that the options ask for.
graph::Boundary tiny_boundary(const graph::Graph& graph, graph::ValueId id,
                              const TinyModelOptions& options);

// Adds an elementwise node and its output, like `x`.
graph::ValueId tiny_unary(graph::Graph& graph, const std::string& name, graph::UnaryKind kind,
                          graph::ValueId x);

graph::CompiledModel tiny_model(const TinyModelOptions& options = {});

// The result of the model, by definition: y = relu(conv(x) + bias), dense NCHW.
std::vector<float> tiny_reference(const std::vector<float>& x);

Status write_tiny_model(const std::string& path, const TinyModelOptions& options = {},
                        model::ArchiveForm form = model::ArchiveForm::kFile);

}  // namespace millrace::test
