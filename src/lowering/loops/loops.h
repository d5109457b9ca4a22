// Reads Loop and Scan nodes: their subgraphs, and how a Scan walks along its sequences.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::lowering {

bool is_loop(const network::Node& node);
bool is_scan(const network::Node& node);

// The attribute of the node that holds its subgraph; kInvalidArgument where there is none.
Result<const network::Network*> require_subgraph(const network::Node& node, std::string_view name);
// Null where the node has no such attribute.
const graph::Dims* integers_of(const network::Node& node, std::string_view name);
Result<int64_t> integer_of(const network::Node& node, std::string_view name);

// kInvalidArgument unless the subgraph takes and gives as many values as the operator has for it.
Status check_counts(const network::Network& body, size_t inputs, size_t least_outputs);

// Number of entries that precede the values that a Loop carries from iteration to iteration: among
// its operands the trip count and the condition, among its subgraph's inputs the iteration's number
// and the condition, among the subgraph's outputs the condition.
inline constexpr size_t kBeforeCarried = 2;
inline constexpr size_t kBeforeCarriedOutputs = 1;

// A sequence is walked along one dimension, forwards or backwards.
struct Walk {
  int64_t axis = 0;  // negative ones count from the end
  bool backwards = false;
};

struct ScanShape {
  const network::Network* body = nullptr;
  size_t states = 0;
  std::vector<Walk> inputs, outputs;  // walks along the sequences
};

// The last operator set whose Scan has a batch and, as its first operand, the sequences' lengths.
inline constexpr int kLastScanWithBatch = 8;

// Reads a Scan that has `operands` operands, not counting the lengths. kInvalidArgument if the
// operands and the attributes do not match.
Result<ScanShape> read_scan(const network::Node& node, size_t operands);

}  // namespace millrace::lowering
