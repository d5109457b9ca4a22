// Scan: a subgraph that runs once for each part of sequences.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "graph/shape.h"
#include "runtime/dynamic/control_flow.h"
#include "runtime/dynamic/iteration.h"

namespace millrace::runtime {
namespace {

// A sequence is walked along one dimension, forwards or backwards.
struct Walk {
  int64_t axis = 0;  // negative ones count from the end
  bool backwards = false;
};

struct ScanShape {
  const network::Network* body = nullptr;
  size_t states = 0;
  std::vector<Walk> inputs, outputs;  // of sequences
};

Result<std::vector<Walk>> read_walks(const network::Node& node, size_t count, const char* axes_name,
                                     const char* directions_name) {
  std::vector<Walk> walks(count);
  const graph::Dims* const axes = integers_of(node, axes_name);
  const graph::Dims* const directions = integers_of(node, directions_name);
  for (const auto& [list, name] : {std::pair(axes, axes_name), {directions, directions_name}}) {
    if (list != nullptr && list->size() != count)
      return invalid_argument(fmt::format("its attribute '{}' has {} entries for {} sequences",
                                          name, list->size(), count));
  }
  for (size_t i = 0; i < count; ++i) {
    if (axes != nullptr) walks[i].axis = (*axes)[i];
    if (directions != nullptr) walks[i].backwards = (*directions)[i] != 0;
  }
  return walks;
}

Result<ScanShape> read_scan(const network::Node& node, size_t operands) {
  ScanShape shape;
  MILLRACE_ASSIGN_OR_RETURN(shape.body, require_subgraph(node, "body"));
  MILLRACE_ASSIGN_OR_RETURN(const int64_t sequences, integer_of(node, "num_scan_inputs"));
  if (sequences < 1 || static_cast<uint64_t>(sequences) > operands)
    return invalid_argument(
        fmt::format("it has {} operands, of which {} are sequences", operands, sequences));
  shape.states = operands - static_cast<size_t>(sequences);
  MILLRACE_RETURN_IF_ERROR(check_counts(*shape.body, operands, shape.states));
  const char* const input_directions =
      integers_of(node, "directions") != nullptr ? "directions" : "scan_input_directions";
  MILLRACE_ASSIGN_OR_RETURN(shape.inputs, read_walks(node, static_cast<size_t>(sequences),
                                                     "scan_input_axes", input_directions));
  MILLRACE_ASSIGN_OR_RETURN(
      shape.outputs, read_walks(node, shape.body->outputs.size() - shape.states, "scan_output_axes",
                                "scan_output_directions"));
  return shape;
}

// The length of the sequences, which they share; makes their axes positive.
Result<size_t> sequence_length(std::span<const RunValue> sequences, std::vector<Walk>& walks) {
  size_t length = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const graph::Dims& shape = sequences[i].shape;
    MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                              graph::normalise_axis(walks[i].axis, shape.size()));
    walks[i].axis = static_cast<int64_t>(axis);
    const auto own = static_cast<size_t>(shape[axis]);
    if (i > 0 && own != length)
      return invalid_argument(fmt::format("its sequences have the lengths {} and {}", length, own));
    length = own;
  }
  return length;
}

Result<RunValue> join_walk(std::vector<RunValue> parts, const Walk& walk,
                           const network::Output& declared) {
  if (walk.backwards) std::ranges::reverse(parts);
  const size_t rank = (parts.empty() ? declared.shape.size() : parts.front().shape.size()) + 1;
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, graph::normalise_axis(walk.axis, rank));
  return join_iterations(std::move(parts), axis, declared);
}

// A Scan over sequences without a batch.
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

// Of operator set 8: a batch of sequences, each of which is scanned for itself.
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

// The last operator set whose Scan has a batch and, as its first operand, the sequences' lengths.
constexpr int kLastWithBatch = 8;

}  // namespace

Result<std::vector<RunValue>> compute_scan(EnclosingRun& run, const network::Node& node) {
  const bool has_batch = run.opset() <= kLastWithBatch;
  if (has_batch && !node.inputs.empty() && !node.inputs[0].empty())
    return unsupported("sequences of different lengths are not covered");
  std::vector<RunValue> operands;
  for (size_t i = has_batch ? 1 : 0; i < node.inputs.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(operands.emplace_back(), run.value(node.inputs[i]));
  }
  MILLRACE_ASSIGN_OR_RETURN(ScanShape shape, read_scan(node, operands.size()));
  if (has_batch) return scan_batch(run, shape, operands);
  return scan(run, std::move(shape), operands);
}

}  // namespace millrace::runtime
