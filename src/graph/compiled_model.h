// CompiledModel: the content of an archive, decoded and checked: the optimised graph, whose weights
// stay in the archive's memory, the two views of every boundary tensor, partitions and memory plan.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/memory_plan.h"
#include "graph/precision.h"
#include "tensor/desc.h"

namespace millrace::network {
struct Network;
}

namespace millrace::graph {

// The form in which HW views hold the inputs and outputs that a graph quantises.
enum class HwQuantisation : uint8_t {
  kModel = 0,   // as the graph's own integers
  kVendor = 1,  // in the vendor's form, requantised at the boundary (vendor_quantisation.h)
};
const char* name_of(HwQuantisation form) noexcept;  // "model", "vendor"

// A graph input or output as callers see it. Both descriptions are of one frame.
struct Boundary {
  ValueId value = kNoValue;
  tensor::TensorDesc cpu;
  std::optional<tensor::TensorDesc> hw;  // none: the boundary has a CPU view only
  tensor::QuantParams quant;             // of the HW view
  // True if the HW view holds integers of another form than the graph's: those of the vendor's
  // form, which the device requantises. The CPU view is not converted through them.
  bool requantised = false;
  // Whether jobs settle dimensions: those that are kOpenDimension or, where `cpu.shape` is empty,
  // all of them and their number.
  bool open = false;
};

// The NPU, the CPU as its fallback, or the communicator of the program: what the ranks of a model
// that is divided among several compute together (collective.h).
enum class PartitionKind : uint8_t { kNpu = 0, kCpu = 1, kCollective = 2 };
const char* name_of(PartitionKind kind) noexcept;  // "NPU", "CPU", "collective"

// A running job keeps the number of its partition in 16 bits (queue::RunPosition).
inline constexpr size_t kMaxPartitions = 65535;

// Consecutive nodes [first, first + count) that run on one kind of processor. CPU and collective
// partitions compute floating-point operators in FP32, whatever the precision of the model and its
// nodes. Collectives are in collective partitions, and all other nodes are not.
struct Partition {
  PartitionKind kind = PartitionKind::kNpu;
  uint32_t first = 0;
  uint32_t count = 0;
};

// The range of one value in the arena of a context.
struct PlannedValue {
  ValueId value = kNoValue;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Shapes of all inputs of a model with a network, in order, by which it becomes a static one.
struct ShapeProfile {
  std::string name;
  std::vector<std::vector<uint32_t>> shapes;
};

struct CompiledModel {
  std::string name;
  std::string producer;
  Precision precision = Precision::kFp32;  // of the nodes that have none of their own
  uint32_t batch_size = 1;
  Graph graph;  // of one frame
  std::vector<Boundary> inputs, outputs;
  // They cover all nodes, in order. An input that a partition reads which is not on the NPU, and an
  // output that such a partition makes, have no HW view.
  std::vector<Partition> partitions;
  // The values that one node makes and another reads. They are planned as dense tensors in the
  // precision of the node that makes them, with the channels of rank-4 values rounded up to 16.
  // Graph inputs, and outputs that no node reads, lie in the caller's memory. The plan is the
  // compiler's estimate and serves inspection only: the CPU device makes its own plan when it loads
  // a model, from the sizes that its kernels need.
  std::vector<PlannedValue> plan;
  uint64_t arena_bytes = 0;
  // The network of a model whose shapes are open, or follow from elements: the runtime lowers it
  // stage by stage. Then `graph`, `partitions` and `plan` are empty, boundaries have no HW view and
  // no `value`, and their open dimensions are kOpenDimension. Null otherwise.
  std::shared_ptr<const network::Network> network;
  // Operators that the stages of `network` leave to the CPU: names of operators and of nodes.
  std::vector<std::string> cpu_operators;
  // The form of HW views in static models that profiles make of a model with a network.
  HwQuantisation hw_quantisation = HwQuantisation::kModel;
  // Profiles for APIs that know static shapes only; they get the first unless another is named.
  std::vector<ShapeProfile> profiles;
};

// Returns whether an HW view of the model is requantised.
bool has_requantised_views(const CompiledModel& model) noexcept;

}  // namespace millrace::graph
