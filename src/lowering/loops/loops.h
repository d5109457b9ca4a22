// Reads the nodes of Loop and Scan: their subgraphs, their counts of operands and states, and the
// axes and directions of a Scan. Terms are those of the ONNX standard: a state is carried from
// iteration to iteration, a scan input is read one slice at a time, and a scan output is joined
// from the slices that the iterations make. Pure functions: thread-safe.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"

namespace millrace::lowering {

bool is_loop(const network::Node& node);
bool is_scan(const network::Node& node);

// Returns the subgraph that attribute `name` holds; kInvalidArgument if there is none.
Result<const network::Network*> require_subgraph(const network::Node& node, std::string_view name);
// The integers of attribute `name`; null if there is no such attribute, or it is of another kind.
const graph::Dims* integers_of(const network::Node& node, std::string_view name);
// The integer of attribute `name`; kInvalidArgument if there is none.
Result<int64_t> integer_of(const network::Node& node, std::string_view name);

// kInvalidArgument unless the subgraph has exactly `inputs` inputs and at least `least_outputs`
// outputs.
Status check_counts(const network::Network& body, size_t inputs, size_t least_outputs);

// The number of entries before the states of a Loop. Operands of the node: trip count and
// condition. Inputs of the body: iteration number and condition.
inline constexpr size_t kBeforeCarried = 2;
// The number of entries before the states among the outputs of the body: the condition.
inline constexpr size_t kBeforeCarriedOutputs = 1;

// The axis and direction of a scan input or scan output.
struct Walk {
  int64_t axis = 0;  // negative axes count from the end
  bool backwards = false;
};

struct ScanShape {
  const network::Network* body = nullptr;
  size_t states = 0;
  std::vector<Walk> inputs, outputs;  // by scan input and by scan output
};

// The last opset in which Scan has a batch dimension, and the lengths of the sequences as its first
// operand.
inline constexpr int kLastScanWithBatch = 8;

// Reads a Scan that has `operands` operands, not counting the lengths. kInvalidArgument if the
// operands, the body and the attributes do not match.
Result<ScanShape> read_scan(const network::Node& node, size_t operands);

}  // namespace millrace::lowering
