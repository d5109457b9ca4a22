// Values that share an encoding are joined to groups first; then each group gets one encoding for
// the union of its ranges.
#include "quantise/rewrite/encodings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lowering/linear_quantisation.h"
#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::quantise {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using tensor::DataType;

// Clamps a scale to positive, normal FLOAT32 values. It is 0 if all elements seen were zero.
double usable_scale(double scale) {
  return std::clamp(scale, double{std::numeric_limits<float>::min()},
                    double{std::numeric_limits<float>::max()});
}

// The least power of two that is not below the scale.
double power_of_two(double scale) {
  int exponent = 0;
  const double fraction = std::frexp(scale, &exponent);  // scale = fraction * 2 ^ exponent
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

Encoding make_encoding(DataType type, double scale, int32_t zero_point) {
  return {type, {{static_cast<float>(usable_scale(scale))}, {zero_point}}};
}

// Disjoint sets (union-find) of values that share one encoding, each set with the union of the
// ranges of its members.
class Groups {
 public:
  Groups(const Selection& selection, const Calibration& calibration, RangeMethod method)
      : parent_(selection.values.size()),
        ranges_(selection.values.size()),
        has_boundary_(selection.values.size()) {
    std::iota(parent_.begin(), parent_.end(), ValueId{0});
    for (ValueId id = 0; id < parent_.size(); ++id)
      if (selection.values[id]) ranges_[id] = choose_range(*calibration[id], method);
  }

  const Range& range(ValueId id) { return ranges_[root(id)]; }
  bool has_boundary(ValueId id) { return has_boundary_[root(id)]; }

  // Notes that the set of `id` contains an input or an output of the graph, which is `id`.
  void add_boundary(ValueId id) { has_boundary_[root(id)] = true; }

  void join(ValueId a, ValueId b) {
    const ValueId first = root(a), second = root(b);
    ranges_[first] = united(ranges_[first], ranges_[second]);
    has_boundary_[first] = has_boundary_[first] || has_boundary_[second];
    parent_[second] = first;
  }

 private:
  ValueId root(ValueId id) {
    // Each step also halves the path: a parent becomes the grandparent.
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }

  std::vector<ValueId> parent_;
  std::vector<Range> ranges_;       // valid at roots
  std::vector<bool> has_boundary_;  // valid at roots
};

// Whether each element of the result is an element of the first operand, or zero (padding).
bool moves_first_operand(const Node& node) {
  return lowering::only_moves(node.op) && !std::holds_alternative<graph::Concat>(node.op);
}

double width(const Range& range) {
  return double{range.high} - double{range.low};
}

// Joins the result with each operand whose range is at least half as wide as the union of both. A
// common encoding then costs that operand about one of its eight bits. The ranges are those of the
// groups so far, so the order of nodes and operands matters.
void join_concat(Groups& groups, const Node& node) {
  const ValueId output = node.outputs[0];
  for (const ValueId id : node.inputs)
    if (2 * width(groups.range(id)) >= width(united(groups.range(id), groups.range(output))))
      groups.join(output, id);
}

}  // namespace

Encoding encoding_of(const Range& range) {
  const double below = -double{range.low}, above = range.high;  // the lengths of its two sides
  if (range.low >= 0) return make_encoding(DataType::kUint8, above / 255, 0);
  if (2 * std::min(below, above) >= std::max(below, above))
    return make_encoding(DataType::kInt8, std::max(below, above) / 127, 0);
  const double scale = usable_scale((below + above) / 255);
  return make_encoding(DataType::kUint8, scale,
                       static_cast<int32_t>(std::clamp(std::nearbyint(below / scale), 0.0, 255.0)));
}

Encoding board_encoding_of(const Range& range) {
  // There are 128 integers on the negative side and 127 on the positive one, which may saturate.
  const double length = std::max(-double{range.low}, double{range.high});
  return make_encoding(DataType::kInt8, power_of_two(usable_scale(length / 128)), 0);
}

Range range_of(const Encoding& encoding) {
  const auto [least, greatest] = lowering::integer_limits(encoding.type);
  const float scale = encoding.quantisation.scales[0];
  const int32_t zero = encoding.quantisation.zero_points[0];
  return {static_cast<float>(least - zero) * scale, static_cast<float>(greatest - zero) * scale};
}

Encodings choose_encodings(const Graph& graph, const Selection& selection,
                           const Calibration& calibration, const EncodingOptions& options) {
  Groups groups(selection, calibration, options.method);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!selection.nodes[i] || !selection.values[node.outputs[0]]) continue;
    if (moves_first_operand(node)) groups.join(node.inputs[0], node.outputs[0]);
    if (std::holds_alternative<graph::Concat>(node.op)) join_concat(groups, node);
  }
  for (const auto* ids : {&graph.inputs, &graph.outputs})
    for (const ValueId id : *ids) groups.add_boundary(id);
  Encodings encodings(graph.values.size());
  for (ValueId id = 0; id < encodings.size(); ++id) {
    if (!selection.values[id]) continue;
    const bool as_board = options.board_boundaries && groups.has_boundary(id);
    encodings[id] = as_board ? board_encoding_of(groups.range(id)) : encoding_of(groups.range(id));
  }
  return encodings;
}

}  // namespace millrace::quantise
