// CompiledModel: the content of an archive, decoded and checked: the optimised graph, whose weights
// stay in the memory of the archive, the two views of every input and output, the partitions and
// the memory plan. Plain data: many threads may read it at the same time.
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
  kModel = 0,   // with the scale and zero point of the graph
  kVendor = 1,  // in the vendor's form, requantised at the boundary (vendor_quantisation.h)
};
const char* name_of(HwQuantisation form) noexcept;  // "model", "vendor"

// An input or output of the model as callers see it. Both descriptions are per frame.
struct Boundary {
  ValueId value = kNoValue;
  tensor::TensorDesc cpu;
  std::optional<tensor::TensorDesc> hw;  // none: the boundary has a CPU view only
  tensor::QuantParams quant;             // of the HW view
  // True if the HW view holds integers in the vendor's form, which differs from that of the graph,
  // so the device requantises them. The CPU view is not converted through that form.
  bool requantised = false;
  // True if each job determines dimensions: those that are kOpenDimension or, if `cpu.shape` is
  // empty, the rank and all dimensions.
  bool open = false;
};

// The place where the nodes of a partition run: the NPU; the CPU, for operators that the NPU does
// not run; or the communicator of the program, for the collectives of a sharded model
// (collective.h).
enum class PartitionKind : uint8_t { kNpu = 0, kCpu = 1, kCollective = 2 };
const char* name_of(PartitionKind kind) noexcept;  // "NPU", "CPU", "collective"

// The limit exists because a running job keeps the index of its partition in 16 bits
// (queue::RunPosition).
inline constexpr size_t kMaxPartitions = 65535;

// Consecutive nodes [first, first + count) that run in the same place. CPU and collective
// partitions compute floating-point operators in FP32, whatever the precision of the model and its
// nodes. Collective partitions hold all collectives and no other nodes.
struct Partition {
  PartitionKind kind = PartitionKind::kNpu;
  uint32_t first = 0;
  uint32_t count = 0;
};

// The range of one value in the arena of a context, in bytes.
struct PlannedValue {
  ValueId value = kNoValue;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// A named set of static shapes for all inputs, in order. It turns a model with a network into a
// static one.
struct ShapeProfile {
  std::string name;
  std::vector<std::vector<uint32_t>> shapes;
};

struct CompiledModel {
  std::string name;
  std::string producer;
  Precision precision = Precision::kFp32;  // of the nodes without their own precision
  uint32_t batch_size = 1;
  Graph graph;  // computes one frame
  std::vector<Boundary> inputs, outputs;
  // The partitions cover all nodes, in order. Inputs that a CPU or collective partition reads, and
  // outputs that one makes, have no HW view.
  std::vector<Partition> partitions;
  // The ranges of the values that one node makes and another reads. They are planned as dense
  // tensors in the precision of the node that makes them, with the channels of rank-4 values
  // rounded up to 16. Graph inputs, and outputs that no node reads, lie in the memory of the
  // caller. The plan is the estimate of the compiler and serves inspection only: the CPU device
  // makes its own plan when it loads a model, from the sizes that its kernels need.
  std::vector<PlannedValue> plan;
  uint64_t arena_bytes = 0;
  // For a model whose shapes are open or depend on elements: its network, which the runtime lowers
  // stage by stage. Then `graph`, `partitions` and `plan` are empty, inputs and outputs have no HW
  // view and no `value`, and their open dimensions are kOpenDimension. Null for all other models.
  std::shared_ptr<const network::Network> network;
  // The operators that the stages of `network` place on the CPU, by operator name or node name.
  std::vector<std::string> cpu_operators;
  // The form of HW views in the static models that profiles make of a model with a network.
  HwQuantisation hw_quantisation = HwQuantisation::kModel;
  // Profiles for APIs with static shapes only. They use the first one unless the caller names
  // another.
  std::vector<ShapeProfile> profiles;
};

// Whether any HW view of the model is requantised.
bool has_requantised_views(const CompiledModel& model) noexcept;

}  // namespace millrace::graph
