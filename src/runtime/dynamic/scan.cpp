// ONNX Scan: runs its subgraph once for each index along the scan axes of its scan inputs. State
// values pass from one iteration to the next; scan outputs collect one part per iteration. In
// operator set 8 the operands have a leading batch dimension, and each sample is scanned
// separately.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "graph/shape.h"
#include "lowering/loops/loops.h"
#include "runtime/dynamic/control_flow.h"
#include "runtime/dynamic/iteration.h"

namespace millrace::runtime {
namespace {

using lowering::ScanShape;
using lowering::Walk;

// Returns the common length of the scan inputs along their axes. Makes the axes in `walks`
// non-negative.
Result<size_t> sequence_length(std::span<const RunValue> sequences, std::vector<Walk>& walks) {
  size_t length = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const graph::Dims& shape = sequences[i].shape;
    MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                              graph::normalise_axis(walks[i].axis, shape.size()));
    walks[i].axis = static_cast<int64_t>(axis);
    const auto own = static_cast<size_t>(shape[axis]);
    if (i > 0 && own != length)
      return invalid_argument(
          fmt::format("its scan inputs have different lengths, {} and {}", length, own));
    length = own;
  }
  return length;
}

// Stacks the parts of a scan output along its axis, in the reverse order if it is scanned
// backwards.
Result<RunValue> join_walk(std::vector<RunValue> parts, const Walk& walk,
                           const network::Output& declared) {
  if (walk.backwards) std::ranges::reverse(parts);
  const size_t rank = (parts.empty() ? declared.shape.size() : parts.front().shape.size()) + 1;
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, graph::normalise_axis(walk.axis, rank));
  return join_iterations(std::move(parts), axis, declared);
}

// Runs a Scan without a batch dimension. `operands` holds the states and then the scan inputs.
Result<std::vector<RunValue>> scan(EnclosingRun& run, ScanShape shape,
                                   std::span<const RunValue> operands) {
  std::vector<RunValue> states(operands.begin(),
                               operands.begin() + static_cast<ptrdiff_t>(shape.states));
  const std::span<const RunValue> sequences = operands.subspan(shape.states);
  MILLRACE_ASSIGN_OR_RETURN(const size_t length, sequence_length(sequences, shape.inputs));
  std::vector<std::vector<RunValue>> collected(shape.outputs.size());
  for (size_t step = 0; step < length; ++step) {
    std::vector<RunValue> inputs = states;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const size_t index = shape.inputs[i].backwards ? length - 1 - step : step;
      MILLRACE_ASSIGN_OR_RETURN(
          inputs.emplace_back(),
          take_part(sequences[i], static_cast<size_t>(shape.inputs[i].axis), index));
    }
    MILLRACE_ASSIGN_OR_RETURN(std::vector<RunValue> outputs, run.run_subgraph(*shape.body, inputs));
    for (size_t i = 0; i < states.size(); ++i) states[i] = std::move(outputs[i]);
    for (size_t i = 0; i < collected.size(); ++i)
      collected[i].push_back(std::move(outputs[states.size() + i]));
  }
  for (size_t i = 0; i < collected.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(states.emplace_back(),
                              join_walk(std::move(collected[i]), shape.outputs[i],
                                        shape.body->outputs[shape.states + i]));
  }
  return states;
}

// Runs a Scan of operator set 8: each sample of the batch is scanned separately.
Result<std::vector<RunValue>> scan_batch(EnclosingRun& run, const ScanShape& shape,
                                         std::span<const RunValue> operands) {
  const auto batch = [](const RunValue& value) { return value.shape.empty() ? 0 : value.shape[0]; };
  const int64_t count = batch(operands[0]);
  for (const RunValue& operand : operands) {
    if (operand.shape.empty() || batch(operand) != count)
      return invalid_argument("its operands differ in their first dimension, the batch");
  }
  if (count == 0) return invalid_argument("its batch is empty");
  std::vector<std::vector<RunValue>> results(shape.body->outputs.size());
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    std::vector<RunValue> parts;
    for (const RunValue& operand : operands) {
      MILLRACE_ASSIGN_OR_RETURN(parts.emplace_back(), take_part(operand, 0, i));
    }
    MILLRACE_ASSIGN_OR_RETURN(std::vector<RunValue> outputs, scan(run, shape, parts));
    for (size_t j = 0; j < outputs.size(); ++j) results[j].push_back(std::move(outputs[j]));
  }
  std::vector<RunValue> joined;
  for (std::vector<RunValue>& parts : results) {
    MILLRACE_ASSIGN_OR_RETURN(joined.emplace_back(), join_parts(std::move(parts), 0));
  }
  return joined;
}

}  // namespace

Result<std::vector<RunValue>> compute_scan(EnclosingRun& run, const network::Node& node) {
  const bool has_batch = run.opset() <= lowering::kLastScanWithBatch;
  if (has_batch && !node.inputs.empty() && !node.inputs[0].empty())
    return unsupported("sequence lengths (the input sequence_lens) are not supported");
  std::vector<RunValue> operands;
  for (size_t i = has_batch ? 1 : 0; i < node.inputs.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(operands.emplace_back(), run.value(node.inputs[i]));
  }
  MILLRACE_ASSIGN_OR_RETURN(ScanShape shape, lowering::read_scan(node, operands.size()));
  if (has_batch) return scan_batch(run, shape, operands);
  return scan(run, std::move(shape), operands);
}

}  // namespace millrace::runtime
