// Facts that follow from the partitions of a model: the values read or made off the NPU, and the
// names of the parts of an archive in directory form.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/compiled_model.h"

namespace millrace::graph {

// For each value, whether a node of a CPU or collective partition reads it, and whether one makes
// it.
struct CpuValues {
  std::vector<bool> read, made;
};

// Requirement: the partitions lie within the nodes of the graph.
CpuValues values_on_cpu(const Graph& graph, std::span<const Partition> partitions);

// The kind of the partition off the NPU that reads or makes the value: that of the first one, the
// NPU where there is none. Requirement: the partitions lie within the nodes of the graph.
PartitionKind kind_off_npu(const Graph& graph, std::span<const Partition> partitions, ValueId id);

// For each node what it computes in: its own precision or that of the model, and FP32 off the NPU,
// and where no partition has it. Requirement: the partitions lie within the nodes.
std::vector<Precision> node_precisions(const Graph& graph, std::span<const Partition> partitions,
                                       Precision model);

// For each partition "vaiml_par_K", "vaiml_cpu_subgraph_K" or "vaiml_collective_K", counted from 0
// for each kind.
std::vector<std::string> part_names(std::span<const Partition> partitions);

}  // namespace millrace::graph
