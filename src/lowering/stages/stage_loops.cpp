// StageLowering: unrolling of Loop and Scan. If the number of iterations is known and small, the
// subgraph is lowered once for each iteration. States pass from one iteration to the next as
// values. A scan output becomes a Concat of the values that the iterations made for it, and a scan
// input a Slice per iteration. A loop that cannot be unrolled runs by itself, between stages
// (runs_alone()).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lowering/evaluate/constant_data.h"
#include "lowering/loops/loops.h"
#include "lowering/node_facts.h"
#include "lowering/stages/stage_lowering.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::ValueId;

// The most nodes in all iterations of an unrolled loop, including those of loops and branches
// inside it. A longer loop runs by itself: lowering it would take longer than running its subgraph
// many times.
constexpr size_t kMostNodes = 1024;
// The most bytes of constants in the iterations of all loops of a network. A loop for which
// unrolling is given up leaves its constants behind, which must not use up the budget of the other
// constants (GraphBuilder).
constexpr size_t kMostBytes = size_t{64} << 20;

graph::Value int64_constant(int64_t number) {
  return {"", tensor::DataType::kInt64, {}, graph::Constant::of(std::vector<int64_t>{number})};
}

graph::Value boolean_constant(bool truth) {
  return {"", tensor::DataType::kBoolean, {}, graph::Constant::of(std::vector<uint8_t>{truth})};
}

}  // namespace

// Whether a loop with this body and number of iterations may be unrolled. An input or output of the
// body counts as a node, since it may cost one (a Slice of a scan input, for instance).
bool StageLowering::is_short(const Scope& scope, const network::Network& body, size_t iterations) {
  const size_t each = body.nodes.size() + body.inputs.size() + body.outputs.size();
  return iterations <= kMostNodes / std::max<size_t>(each, 1) &&
         take_nodes(scope, body.initializers.size());
}

// Counts nodes of an iteration, or entities that cost as much as nodes. False if they are too many.
bool StageLowering::take_nodes(const Scope& scope, size_t count) {
  if (scope.repeats) unrolled_ += count;
  return !scope.repeats || unrolled_ <= kMostNodes;
}

// Counts the bytes of those values that are constants. False if they are too many.
bool StageLowering::take_constants(const Scope& scope, std::span<const ValueId> ids) {
  for (const ValueId id : ids)
    if (scope.repeats && id != kNoValue && builder_.value(id).constant)
      unrolled_bytes_ += builder_.value(id).bytes();
  return !scope.repeats || unrolled_bytes_ <= kMostBytes;
}

bool StageLowering::take_results(const network::Node& node, const Scope& scope) {
  std::vector<ValueId> ids;
  for (const std::string& name : node.outputs)
    if (const auto result = scope.values.find(name); result != scope.values.end())
      ids.push_back(result->second);
  return take_constants(scope, ids);
}

// The element of a constant of one element and of this type; nothing for any other value.
template <class T>
std::optional<T> StageLowering::known_scalar(ValueId id, tensor::DataType type) const {
  const graph::Value& value = builder_.value(id);
  if (!value.constant || value.type != type || value.elements() != 1) return std::nullopt;
  return value.constant->as<T>()[0];
}

Result<StageLowering::Outcome> StageLowering::unroll(const network::Node& node, Scope& scope) {
  if (!scope.repeats) unrolled_ = 0;
  waits_ = false;
  const Result<std::vector<ValueId>> operands = find_operands(node, scope);
  // lower_node() handles the node as one that runs by itself, and reports what is wrong with it.
  if (!operands.ok()) return Outcome::kWaits;
  return is_loop(node) ? unroll_loop(node, *operands, scope) : unroll_scan(node, *operands, scope);
}

Result<StageLowering::Outcome> StageLowering::unroll_loop(const network::Node& node,
                                                          const std::vector<ValueId>& operands,
                                                          Scope& scope) {
  const Result<const network::Network*> body = require_subgraph(node, "body");
  const size_t carried = operands.size() - std::min(operands.size(), kBeforeCarried);
  if (!body.ok() || !check_counts(**body, kBeforeCarried + carried, 1 + carried).ok() ||
      operands.empty() || operands[0] == kNoValue)
    return Outcome::kWaits;
  const auto count = known_scalar<int64_t>(operands[0], tensor::DataType::kInt64);
  const bool goes_on = operands.size() < kBeforeCarried || operands[1] == kNoValue ||
                       known_scalar<uint8_t>(operands[1], tensor::DataType::kBoolean).value_or(0);
  if (!count || *count < 1 || !goes_on || !is_short(scope, **body, static_cast<size_t>(*count)))
    return Outcome::kWaits;
  Scope& around = open_scope(**body, fmt::format("{}{}/", scope.prefix, name_of(node)), &scope);
  std::vector<ValueId> states(operands.end() - static_cast<ptrdiff_t>(carried), operands.end());
  Parts parts((*body)->outputs.size() - kBeforeCarriedOutputs - carried);
  for (int64_t i = 0; i < *count; ++i) {
    std::vector<ValueId> inputs = {builder_.add_constant(int64_constant(i)),
                                   builder_.add_constant(boolean_constant(true))};
    inputs.insert(inputs.end(), states.begin(), states.end());
    std::vector<ValueId> outputs;
    MILLRACE_ASSIGN_OR_RETURN(
        const Outcome outcome,
        lower_iteration(node, around, static_cast<size_t>(i), inputs, &outputs));
    if (outcome != Outcome::kLowered) return outcome;
    const auto next = known_scalar<uint8_t>(outputs[0], tensor::DataType::kBoolean);
    if (!next) return Outcome::kWaits;
    keep_outputs({outputs.begin() + kBeforeCarriedOutputs, outputs.end()}, states, parts);
    if (*next == 0) break;
  }
  const std::vector<Walk> walks(parts.size());
  return join_iterations(node, scope, std::move(states), std::move(parts), walks);
}

Result<StageLowering::Outcome> StageLowering::unroll_scan(const network::Node& node,
                                                          const std::vector<ValueId>& operands,
                                                          Scope& scope) {
  if (opset_of(request_.network, node) <= kLastScanWithBatch) return Outcome::kWaits;
  const Result<ScanShape> scan = read_scan(node, operands.size());
  if (!scan.ok()) return Outcome::kWaits;
  std::vector<ValueId> states(operands.begin(),
                              operands.begin() + static_cast<ptrdiff_t>(scan->states));
  const std::vector<ValueId> sequences(operands.begin() + static_cast<ptrdiff_t>(scan->states),
                                       operands.end());
  const auto length = common_length(sequences, scan->inputs);
  if (!length || *length == 0 || !is_short(scope, *scan->body, *length)) return Outcome::kWaits;
  Scope& around =
      open_scope(*scan->body, fmt::format("{}{}/", scope.prefix, name_of(node)), &scope);
  Parts parts(scan->outputs.size());
  for (size_t step = 0; step < *length; ++step) {
    std::vector<ValueId> inputs = states;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const size_t index = scan->inputs[i].backwards ? *length - 1 - step : step;
      MILLRACE_ASSIGN_OR_RETURN(
          inputs.emplace_back(),
          take_part(around, sequences[i], scan->inputs[i].axis, static_cast<int64_t>(index)));
    }
    std::vector<ValueId> outputs;
    MILLRACE_ASSIGN_OR_RETURN(const Outcome outcome,
                              lower_iteration(node, around, step, inputs, &outputs));
    if (outcome != Outcome::kLowered) return outcome;
    keep_outputs(std::move(outputs), states, parts);
  }
  return join_iterations(node, scope, std::move(states), std::move(parts), scan->outputs);
}

// The length that all scan inputs have along their scan axis; nothing if the lengths differ.
std::optional<size_t> StageLowering::common_length(const std::vector<ValueId>& sequences,
                                                   const std::vector<Walk>& walks) const {
  std::optional<size_t> length;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i] == kNoValue) return std::nullopt;
    const Dims& shape = builder_.value(sequences[i]).shape;
    const Result<size_t> axis = graph::normalise_axis(walks[i].axis, shape.size());
    if (!axis.ok()) return std::nullopt;
    const auto own = static_cast<size_t>(shape[*axis]);
    if (length.value_or(own) != own) return std::nullopt;
    length = own;
  }
  return length;
}

// Lowers the body of the loop for one iteration. The scope `around` is that of the whole loop: it
// holds the initializers of the body, which all iterations share.
Result<StageLowering::Outcome> StageLowering::lower_iteration(const network::Node& node,
                                                              Scope& around, size_t iteration,
                                                              const std::vector<ValueId>& inputs,
                                                              std::vector<ValueId>* outputs) {
  const network::Network& body = *around.network;
  Scope& inner = scopes_.emplace_back(
      Scope{&body, fmt::format("{}{}/", around.prefix, iteration), &around, true});
  if (!take_nodes(inner, inputs.size() + body.outputs.size()) || !take_constants(inner, inputs))
    return Outcome::kWaits;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNoValue) return Outcome::kWaits;
    inner.values.insert_or_assign(body.inputs[i].name, inputs[i]);
  }
  for (const network::Node& inside : body.nodes) {
    const Result<Outcome> outcome = lower_node(inside, inner);
    if (!outcome.ok()) return outcome.status().with_context(describe(node));
    if (*outcome != Outcome::kLowered) return *outcome;
  }
  for (const network::Output& output : body.outputs) {
    waits_ = false;
    const Result<ValueId> id = find_value(output.name, inner);
    if (!id.ok() && waits_) return Outcome::kWaits;
    MILLRACE_RETURN_IF_ERROR(id.status().with_context(describe(node)));
    outputs->push_back(*id);
  }
  return take_constants(inner, *outputs) ? Outcome::kLowered : Outcome::kWaits;
}

// Keeps the outputs of an iteration: the states for the next one, and an element of each scan
// output.
void StageLowering::keep_outputs(std::vector<ValueId> outputs, std::vector<ValueId>& states,
                                 Parts& parts) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i < states.size()) {
      states[i] = outputs[i];
    } else {
      parts[i - states.size()].push_back(outputs[i]);
    }
  }
}

// Returns element `index` of a scan input along its scan axis, without that dimension.
Result<ValueId> StageLowering::take_part(const Scope& scope, ValueId id, int64_t axis,
                                         int64_t index) {
  const std::string name = scope.prefix + "part";
  Dims shape = builder_.value(id).shape;
  MILLRACE_ASSIGN_OR_RETURN(const size_t dimension, graph::normalise_axis(axis, shape.size()));
  graph::Slice slice{Dims(shape.size(), 0), shape, Dims(shape.size(), 1)};
  slice.begin[dimension] = index;
  slice.size[dimension] = 1;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId part, builder_.emit(name, std::move(slice), {id}));
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(dimension));
  return builder_.emit(name, graph::Reshape{std::move(shape)}, {part});
}

// Checks that all iterations made tensors of one type and shape for a scan output, as the runtime
// does for a loop that runs by itself. Without this check, join_parts() would reshape a tensor of
// another shape that has as many elements.
Status StageLowering::check_alike(const std::vector<ValueId>& parts) const {
  const graph::Value& first = builder_.value(parts[0]);
  for (const ValueId id : parts) {
    const graph::Value& part = builder_.value(id);
    if (builder_.sequence_of(id) != nullptr)
      return invalid_argument("a scan output must be a tensor, not a sequence");
    if (part.shape != first.shape || part.type != first.type)
      return invalid_argument(
          fmt::format("iterations yield {} {} and {} {} for one scan output; they must be alike",
                      tensor::to_string(first.type), graph::to_string(first.shape),
                      tensor::to_string(part.type), graph::to_string(part.shape)));
  }
  return {};
}

// Joins the elements that the iterations made for a scan output along its new axis.
// kInvalidArgument if they differ in type or shape.
Result<ValueId> StageLowering::join_parts(const std::string& name, std::vector<ValueId> parts,
                                          const Walk& walk) {
  if (walk.backwards) std::ranges::reverse(parts);
  Dims shape = builder_.value(parts[0]).shape;
  MILLRACE_RETURN_IF_ERROR(check_alike(parts));
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, graph::normalise_axis(walk.axis, shape.size() + 1));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), 1);
  for (ValueId& part : parts) {
    MILLRACE_ASSIGN_OR_RETURN(part, builder_.emit(name + "/part", graph::Reshape{shape}, {part}));
  }
  return builder_.emit(name, graph::Concat{static_cast<int64_t>(axis)}, std::move(parts));
}

Result<StageLowering::Outcome> StageLowering::join_iterations(const network::Node& node,
                                                              Scope& scope,
                                                              std::vector<ValueId> states,
                                                              Parts parts,
                                                              const std::vector<Walk>& walks) {
  std::vector<ValueId> results = std::move(states);
  if (results.size() + parts.size() < node.outputs.size()) return Outcome::kWaits;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t output = results.size();
    const bool is_used = output < node.outputs.size() && !node.outputs[output].empty();
    results.push_back(kNoValue);
    if (!is_used) continue;
    Result<ValueId> joined =
        join_parts(scope.prefix + node.outputs[output], std::move(parts[i]), walks[i]);
    if (!joined.ok()) return joined.status().with_context(describe(node));
    results.back() = *joined;
  }
  origins_.resize(builder_.graph().nodes.size(), {&node, &scope});
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty()) scope.values.insert_or_assign(node.outputs[i], results[i]);
  return Outcome::kLowered;
}

}  // namespace millrace::lowering
