// Facts that follow from the partitions of a model: the values that nodes off the NPU read or make,
// precisions, and the names of the parts of an archive in directory form. Thread-safe.
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

// Returns the kind of the first CPU or collective partition that reads or makes the value; kNpu if
// there is none. Requirement: the partitions lie within the nodes of the graph.
PartitionKind kind_off_npu(const Graph& graph, std::span<const Partition> partitions, ValueId id);

// Returns the precision in which each node computes: on the NPU its own or else that of the model;
// off the NPU, and for nodes without a partition, FP32. Requirement: the partitions lie within the
// nodes.
std::vector<Precision> node_precisions(const Graph& graph, std::span<const Partition> partitions,
                                       Precision model);

// Returns the name of each partition: "vaiml_par_K", "vaiml_cpu_subgraph_K" or
// "vaiml_collective_K", where K counts from 0 for each kind.
std::vector<std::string> part_names(std::span<const Partition> partitions);

}  // namespace millrace::graph
