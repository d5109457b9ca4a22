// Builds a compiled model node by node, as the compiler would.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "graph/boundary_quantisation.h"
#include "graph/compiled_model.h"
#include "tests/device_cpu/reference.h"

namespace millrace::device::cpu {

class ModelBuilder {
 public:
  explicit ModelBuilder(graph::Precision precision = graph::Precision::kFp32);

  graph::ValueId input(const graph::Dims& shape,
                       tensor::DataType type = tensor::DataType::kFloat32);
  graph::ValueId constant(const Tensor& tensor, tensor::DataType type = tensor::DataType::kFloat32);
  // A constant with the elements as they lie in memory.
  graph::ValueId raw_constant(const graph::Dims& shape, tensor::DataType type,
                              std::span<const std::byte> bytes) {
    return model_.graph.add_constant(next_name("constant"), type, shape,
                                     graph::Constant::copy_of(bytes));
  }
  template <class T>
  graph::ValueId integers(const graph::Dims& shape, tensor::DataType type,
                          const std::vector<T>& elements) {
    return model_.graph.add_constant(next_name("constant"), type, shape,
                                     graph::Constant::of(elements));
  }
  // The node's output, with the shape its shape function gives.
  graph::ValueId node(graph::Operator op, std::vector<graph::ValueId> inputs);
  // The same, quantised.
  graph::ValueId quantised(graph::Operator op, std::vector<graph::ValueId> inputs,
                           tensor::DataType type, graph::Quantisation quantisation);
  // A quantised constant.
  template <class T>
  graph::ValueId quantised_constant(const graph::Dims& shape, tensor::DataType type,
                                    const std::vector<T>& elements,
                                    graph::Quantisation quantisation) {
    const graph::ValueId id = integers(shape, type, elements);
    model_.graph.values[id].quantisation = std::move(quantisation);
    return id;
  }
  // The outputs of a fallback operator, all that it is asked for.
  std::vector<graph::ValueId> fallback(graph::Fallback op, std::vector<graph::ValueId> inputs,
                                       size_t outputs = 1);
  void output(graph::ValueId id);
  // The nodes from here on are a partition of this kind. Without a call all are one on the NPU.
  void begin_partition(graph::PartitionKind kind);
  // Gives the boundary tensor (by number) this layout in its HW view.
  void set_hw_layout(Direction direction, size_t index, tensor::Layout layout);

  // Gives the boundary tensor a HW view of bytes.
  void set_hw_bytes(Direction direction, size_t index, tensor::DataType type,
                    const tensor::QuantParams& quant);

  // Gives the boundary tensor a HW view in the vendor's form, which is requantised to `own`.
  void set_requantised(Direction direction, size_t index, const graph::BoundaryQuantisation& own);
  // Quantises the result of a node.
  void quantise(graph::ValueId id, tensor::DataType type, graph::Quantisation quantisation);
  const graph::Graph& graph() const { return model_.graph; }

  std::shared_ptr<const graph::CompiledModel> build() const;

 private:
  std::string next_name(const std::string& kind);
  graph::Boundary boundary(graph::ValueId id) const;

  graph::CompiledModel model_;
  int names_ = 0;
};

}  // namespace millrace::device::cpu
