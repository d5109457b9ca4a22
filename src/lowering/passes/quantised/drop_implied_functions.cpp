#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/graph.h"
#include "lowering/linear_quantisation.h"
#include "lowering/passes/bounds.h"
#include "lowering/passes/passes.h"
#include "lowering/passes/quantised/quantised_nodes.h"
#include "tensor/element.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::Quantisation;
using graph::Value;
using graph::ValueId;

// Whether all real numbers that a quantised value can represent are within the bounds.
bool holds_only(const Value& value, const Bounds& bounds) {
  const auto [least, greatest] = integer_limits(value.type);
  const Quantisation& quantisation = *value.quantisation;
  for (size_t i = 0; i < quantisation.scales.size(); ++i) {
    const auto number = [&](int64_t integer) {
      return static_cast<float>(integer - quantisation.zero_points[i]) * quantisation.scales[i];
    };
    // A tolerance for rounding: 255 * (6 / 255) may be a little more than 6.
    constexpr float kRoundingError = 4 * std::numeric_limits<float>::epsilon();
    const float slack = kRoundingError * std::abs(number(greatest));
    if (!(number(least) >= bounds.low && number(greatest) <= bounds.high + slack)) return false;
  }
  return true;
}

int64_t quantised(float number, const tensor::ElementRule& rule, tensor::DataType type) {
  return type == tensor::DataType::kInt8 ? tensor::quantise<int8_t>(number, rule)
                                         : tensor::quantise<uint8_t>(number, rule);
}

// Whether the bounds are quantised to the least and the greatest integer of the type. Then
// saturation has the same effect as the bounds.
bool saturates_at(const Value& value, const Bounds& bounds) {
  if (!value.quantisation || !is_byte(value.type) || !(bounds.low <= bounds.high)) return false;
  const auto [least, greatest] = integer_limits(value.type);
  const Quantisation& quantisation = *value.quantisation;
  for (size_t i = 0; i < quantisation.scales.size(); ++i) {
    const tensor::ElementRule rule{quantisation.scales[i], quantisation.zero_points[i]};
    if (quantised(bounds.low, rule, value.type) != least ||
        quantised(bounds.high, rule, value.type) != greatest)
      return false;
  }
  return true;
}

// Whether the bounds are those of a Relu or of a Clip from 0 on. Only these are dropped: others
// would be lost if a pass leaves out the rounding of a result.
bool begins_at_zero(const Bounds& bounds) {
  return bounds.low == 0 && bounds.high > 0;
}

class Pass {
 public:
  explicit Pass(graph::Graph& graph) : editor_(graph), readers_(graph::consumers_of(graph)) {}

  void run() {
    for (const Editor::Index index : editor_.nodes()) {
      graph::Activation* function = function_of(editor_.node(index));
      const auto bounds = function != nullptr ? bounds_of(*function) : std::nullopt;
      if (!bounds || !begins_at_zero(*bounds)) continue;
      const bool is_unary = std::holds_alternative<graph::Unary>(editor_.node(index).op);
      const bool implied = result_saturates(index, *bounds) ||
                           (is_unary && operand_is_within(editor_.node(index), *bounds));
      if (!implied) continue;
      *function = {};
      if (is_unary) editor_.bypass(index);
    }
    editor_.finish();
  }

 private:
  bool operand_is_within(const Node& node, const Bounds& bounds) {
    const ValueId source = quantised_source(editor_, node.inputs[0]);
    return source != graph::kNoValue && holds_only(editor_.value(source), bounds);
  }

  bool result_saturates(Editor::Index index, const Bounds& bounds) {
    const ValueId result = editor_.node(index).outputs[0];
    if (editor_.is_graph_output(result) || readers_[result].empty()) return false;
    return std::ranges::all_of(readers_[result], [&](uint32_t reader) {
      const Node& node = editor_.node(reader);
      return std::holds_alternative<graph::Requantise>(node.op) &&
             saturates_at(editor_.value(node.outputs[0]), bounds);
    });
  }

  Editor editor_;
  // The readers in the original graph. Bypassing a function adds readers only to values that are
  // not the result of a function, or that have the same readers.
  const std::vector<std::vector<uint32_t>> readers_;
};

}  // namespace

Status drop_implied_functions(graph::Graph& graph, const PassContext& context) {
  if (!context.as_written) Pass(graph).run();
  return {};
}

}  // namespace millrace::lowering
