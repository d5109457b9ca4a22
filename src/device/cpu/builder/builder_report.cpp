// The builder's report on its steps: layouts, and why it has added a step.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu {

using graph::ValueId;

// Describes the type and the layout. Values that are not floating point are bytes to oneDNN, in C
// order.
std::string Builder::describe(ValueId id, const Desc& desc) const {
  return is_floating(id) ? to_string(desc)
                         : fmt::format("{}:plain", tensor::to_string(value(id).type));
}

// Primitives state their operands. The device's own kernels do not: a layout is known if the value
// has a single location.
void Builder::describe_layouts(const Step& step, StepInfo& info) const {
  std::vector<std::string> reads, writes;
  for (const Argument& argument : step.operands()) {
    if (argument.index == DNNL_ARG_SCRATCHPAD) continue;
    auto& side = argument.index == DNNL_ARG_DST ? writes : reads;
    side.push_back(to_string(argument.operand.desc));
  }
  if (step.arguments().empty() && !info.node.empty()) {
    const graph::Node& node = model_.graph.nodes[node_];
    const auto add_layout = [this](ValueId id, std::vector<std::string>& side) {
      if (id == graph::kNoValue) return;
      if (locations(id).size() == 1)
        side.push_back(describe(id, locations(id).front().desc));
      else if (locations(id).empty() && !values_[id].stored.empty())
        side.push_back(to_string(values_[id].stored.back().desc));
    };
    for (const ValueId id : node.inputs) add_layout(id, reads);
    for (const ValueId id : node.outputs) add_layout(id, writes);
  }
  info.reads = fmt::format("{}", fmt::join(reads, ", "));
  info.writes = fmt::format("{}", fmt::join(writes, ", "));
}

// Whether the step reads integers. A quantised value may have locations with floating point
// elements, too, so the buffers of the step decide.
bool Builder::reads_integers(const Step& step, ValueId operand) const {
  if (!is_quantised(operand)) return tensor::is_integer(value(operand).type);
  const std::vector<BufferId> buffers = step.buffers();
  return std::ranges::any_of(values_[operand].stored, [&](const Operand& integers) {
    return std::ranges::find(buffers, integers.buffer) != buffers.end();
  });
}

// Returns the first input of the node being lowered, or of the preceding node if that is part of
// the same step. Returns the output if there is no input.
ValueId Builder::first_operand() const {
  const graph::Node* node = &model_.graph.nodes[node_];
  ValueId id = node->input(0);
  if (id == graph::kNoValue) return node->outputs[0];
  if (const graph::Node* const earlier = postponed_maker(id)) id = earlier->input(0);
  return id;
}

std::string Builder::describe_node(uint32_t index) const {
  const graph::Node& node = model_.graph.nodes[index];
  return fmt::format("{} \"{}\"", graph::name_of(node.op), node.name);
}

std::string Builder::maker_of(ValueId id) const {
  if (is_constant(id)) return fmt::format("constant \"{}\"", value(id).name);
  if (values_[id].input) return fmt::format("input \"{}\"", value(id).name);
  return describe_node(values_[id].maker);
}

std::string Builder::why_reordered(ValueId moved, const Operand& from, const Operand& to) const {
  const std::string before = to_string(from.desc), after = to_string(to.desc);
  // After the last node of the partition, its outputs are delivered to callers.
  if (node_ == partition().first + partition().count)
    return fmt::format("{} makes {}, callers read {}", maker_of(moved), before, after);
  const bool is_made = !is_constant(moved) && !values_[moved].input;
  if (is_made && values_[moved].maker == node_)
    return fmt::format("a copy from {} to {} within {}", before, after, describe_node(node_));
  const bool crosses = is_made && values_[moved].maker < partition().first;
  return fmt::format("{} makes {}, {} reads {}{}", maker_of(moved), before, describe_node(node_),
                     after, crosses ? " in another partition" : "");
}

std::string Builder::why_in_view(ValueId moved, const ViewCondition& condition) const {
  return fmt::format("only where {} \"{}\" is bound in its {} view",
                     condition.direction == Direction::kInput ? "input" : "output",
                     value(moved).name, condition.view == View::kHw ? "HW" : "CPU");
}

}  // namespace millrace::device::cpu
