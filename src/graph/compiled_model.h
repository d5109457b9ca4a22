// CompiledModel: what an archive says, decoded and checked: the optimised graph with its weights in
// place, the two views of every boundary tensor, partitions and memory plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/memory_plan.h"
#include "tensor/desc.h"

namespace millrace::graph {

enum class Precision : uint8_t { kFp32 = 0, kBf16 = 1 };
const char* name_of(Precision precision) noexcept;  // "fp32", "bf16"

// A graph input or output as callers see it. Both descriptions are of one frame.
struct Boundary {
  ValueId value = kNoValue;
  tensor::TensorDesc cpu;
  std::optional<tensor::TensorDesc> hw;  // none: the boundary has a CPU view only
  tensor::QuantParams quant;
};

// The NPU, or the CPU as its fallback.
enum class PartitionKind : uint8_t { kNpu = 0, kCpu = 1 };
const char* name_of(PartitionKind kind) noexcept;  // "NPU", "CPU"

// So that the number of a partition fits where a running job keeps it (queue::RunPosition).
inline constexpr size_t kMaxPartitions = 65535;

// A run of nodes [first, first + count) that all go to one kind of processor. What a CPU partition
// computes with floating point is computed in FP32, whatever the precision of the model.
struct Partition {
  PartitionKind kind = PartitionKind::kNpu;
  uint32_t first = 0;
  uint32_t count = 0;
};

// The place of one value in the arena of a context.
struct PlannedValue {
  ValueId value = kNoValue;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct CompiledModel {
  std::string name;
  std::string producer;
  Precision precision = Precision::kFp32;
  uint32_t batch_size = 1;
  Graph graph;  // of one frame
  std::vector<Boundary> inputs, outputs;
  // Cover all nodes, in order. An input that a CPU partition reads, and an output that one makes,
  // has no HW view.
  std::vector<Partition> partitions;
  // The values that one node makes and another reads, planned as dense in the precision of their
  // partition with the channels of rank-4 values rounded up to 16. Graph inputs, and outputs that
  // no node reads, lie in the caller's memory. This is the compiler's estimate, for inspection: the
  // CPU device plans anew when it loads, from the sizes its kernels really need.
  std::vector<PlannedValue> plan;
  uint64_t arena_bytes = 0;
};

}  // namespace millrace::graph
