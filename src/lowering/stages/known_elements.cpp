// of() collects the nodes between a value and what is known, and evaluates them in graph order.
// Both steps are limited, by the size of values, the number of nodes and the folding budget.
#include "lowering/stages/known_elements.h"

#include <algorithm>

#include "fallback/evaluate.h"
#include "lowering/evaluate/constant_data.h"
#include "lowering/evaluate/evaluate.h"
#include "lowering/evaluate/evaluate_fallback.h"

namespace millrace::lowering {
namespace {

using graph::ValueId;

// The most elements of a value that may be evaluated. Shapes, bounds and pads are short lists of
// integers; the scales of a Resize have one element per dimension.
constexpr size_t kMostIntegers = 4096;
constexpr size_t kMostFloats = 16;
// The most nodes between the known values and the value that is asked for.
constexpr size_t kMostNodes = 4096;

bool is_small(const graph::Value& value) {
  return value.elements() <= (tensor::is_floating(value.type) ? kMostFloats : kMostIntegers);
}

// Takes the bytes and the work of evaluating a node from the budget.
Status take(FoldingBudget& budget, const graph::Node& node,
            std::span<const graph::Value* const> operands,
            std::span<const graph::ValueType> outputs) {
  size_t bytes = 0;
  for (const graph::ValueType& output : outputs)
    bytes += fallback::element_count(output.shape) * tensor::size_of(output.type);
  if (!budget.has_bytes(bytes) || !budget.take_work(evaluation_work(node.op, operands, outputs)))
    return unsupported("computing it exceeds the budget for constant folding");
  budget.take_bytes(bytes);
  return {};
}

Result<std::vector<graph::Value>> evaluate_node(FoldingBudget& budget, const graph::Node& node,
                                                std::span<const graph::Value* const> operands) {
  if (const auto* op = std::get_if<graph::Fallback>(&node.op)) {
    const auto views = views_of(operands);
    MILLRACE_ASSIGN_OR_RETURN(const auto types,
                              fallback::infer_outputs(*op, views, node.outputs.size()));
    MILLRACE_RETURN_IF_ERROR(take(budget, node, operands, types));
    return evaluate_fallback(*op, views, types);
  }
  MILLRACE_ASSIGN_OR_RETURN(const graph::ValueType type, graph::infer_output(node.op, operands));
  MILLRACE_RETURN_IF_ERROR(take(budget, node, operands, {&type, 1}));
  MILLRACE_ASSIGN_OR_RETURN(graph::Value result, evaluate(node.op, operands));
  return std::vector<graph::Value>{std::move(result)};
}

}  // namespace

bool KnownElements::copy_input(ValueId id) {
  const auto input = inputs_.find(id);
  if (input == inputs_.end() || !input->second->elements) return false;
  const Known& known = *input->second;
  Result<MutableConstant> constant = make_constant(known.type, known.shape);
  if (!constant.ok() || constant->value.constant->bytes.size() != known.elements->bytes.size()) {
    return false;
  }
  std::ranges::copy(known.elements->bytes, constant->data);
  computed_.emplace(id, Computed{std::move(constant->value), {known.name}});
  return true;
}

// Walks back from `id` to constants, values in `computed_` and known inputs. False if it meets
// another input, a value that is too large, or too many nodes.
bool KnownElements::collect(ValueId id, std::set<size_t>* nodes) {
  std::vector<ValueId> open = {id};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (next == graph::kNoValue) continue;
    const graph::Value& value = builder_.value(next);
    if (value.constant || computed_.contains(next)) continue;
    if (!is_small(value)) return false;
    const auto maker = builder_.maker_of(next);
    if (!maker) {
      if (!copy_input(next)) return false;
      continue;
    }
    if (!nodes->insert(*maker).second) continue;
    if (nodes->size() > kMostNodes) return false;
    const graph::Node& node = builder_.graph().nodes[*maker];
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return true;
}

bool KnownElements::compute(const graph::Node& node) {
  std::vector<const graph::Value*> operands;
  std::set<std::string> known;
  for (const ValueId id : node.inputs) {
    const auto found = computed_.find(id);
    if (found != computed_.end())
      known.insert(found->second.known.begin(), found->second.known.end());
    operands.push_back(id == graph::kNoValue      ? nullptr
                       : found != computed_.end() ? &found->second.value
                                                  : &builder_.value(id));
  }
  Result<std::vector<graph::Value>> results = evaluate_node(builder_.budget(), node, operands);
  if (!results.ok()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    computed_.emplace(node.outputs[i], Computed{std::move((*results)[i]), known});
  }
  return true;
}

const KnownElements::Computed* KnownElements::of(ValueId id) {
  std::set<size_t> nodes;
  if (!collect(id, &nodes)) return nullptr;
  // In ascending order, a node comes after those that make its operands.
  for (const size_t node : nodes) {
    if (!compute(builder_.graph().nodes[node])) return nullptr;
  }
  const auto found = computed_.find(id);
  return found != computed_.end() ? &found->second : nullptr;
}

}  // namespace millrace::lowering
