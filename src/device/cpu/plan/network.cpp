#include "device/cpu/plan/network.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace millrace::device::cpu::plan {
namespace {

using graph::kNoValue;
using graph::ValueId;

bool keeps_layout(const graph::Operator& op) {
  return std::holds_alternative<graph::Unary>(op) || std::holds_alternative<graph::Binary>(op) ||
         std::holds_alternative<graph::Pool>(op) || std::holds_alternative<graph::GlobalPool>(op) ||
         std::holds_alternative<graph::BatchNormalization>(op) ||
         std::holds_alternative<graph::Concat>(op);
}

// Whether images in this layout are joined by copying: those whose channels are innermost, not in
// blocks.
bool joins_by_copies(const std::string& layout) {
  return layout.ends_with('b');
}

class Description {
 public:
  Description(const graph::CompiledModel& model, ElementType type, Times& times)
      : graph_(model.graph), type_(type), times_(times), makers_(graph_.values.size()) {
    for (const graph::Partition& partition : model.partitions)
      for (uint32_t i = 0; i < partition.count; ++i)
        add_node(partition.first + i, partition.kind == graph::PartitionKind::kNpu);
    for (const graph::Boundary& output : model.outputs) read_plain(output.value);
  }

  std::optional<Network> take() {
    if (is_time_missing_) return std::nullopt;
    return std::move(network_);
  }

 private:
  using Variable = uint32_t;

  const graph::Value& value(ValueId id) const { return graph_.values[id]; }

  // Whether the value is an image that could lie in one layout or another.
  bool is_image(ValueId id) const {
    const graph::Value& x = value(id);
    return tensor::fits_float32(x.type) && !x.constant && !x.quantisation && x.shape.size() >= 3 &&
           x.shape.size() <= 5 && x.elements() > 0;
  }

  std::string plain_name(ValueId id) const {
    return layout_name(plain_desc(value(id).shape, type_));
  }

  uint64_t copy(ValueId id, const std::string& from, const std::string& to) {
    const auto nanoseconds = times_.move(value(id).shape, type_, from, to);
    if (!nanoseconds) is_time_missing_ = true;
    return nanoseconds.value_or(0);
  }
  uint64_t move(ValueId id, const std::string& from, const std::string& to) {
    return from == to ? 0 : copy(id, from, to);
  }

  bool is_planned(const graph::Node& node) const {
    return std::holds_alternative<graph::Conv>(node.op) && is_image(node.input(0)) &&
           is_image(node.outputs[0]) && value(node.input(1)).constant &&
           !value(node.input(1)).quantisation;
  }

  void add_node(uint32_t index, bool on_npu) {
    const graph::Node& node = graph_.nodes[index];
    // Those of another precision have their usual form, and read copies.
    const bool in_type = on_npu && !node.precision;
    if (in_type && is_planned(node) && add_convolution(index)) return;
    if (in_type && keeps_layout(node.op) && keep(node)) return;
    for (const ValueId id : node.inputs)
      if (id != kNoValue) read_plain(id);
  }

  // False where there is nothing to choose for it.
  bool add_convolution(uint32_t index) {
    const graph::Node& node = graph_.nodes[index];
    const kernels::Convolution convolution(graph_, node, std::get<graph::Conv>(node.op), type_);
    std::optional<std::vector<Candidate>> candidates = times_.candidates(convolution);
    if (!candidates) is_time_missing_ = true;
    if (!candidates || candidates->empty()) return false;
    const auto variable = static_cast<Variable>(network_.nodes.size());
    std::vector<uint64_t> own;
    for (const Candidate& each : *candidates) own.push_back(each.nanoseconds);
    network_.nodes.push_back(index);
    network_.candidates.push_back(*std::move(candidates));
    network_.problem.own.push_back(std::move(own));
    read(node.input(0), variable, &Candidate::source);
    if (const ValueId residual = node.input(3); residual != kNoValue)
      read(residual, variable, &Candidate::result);
    makers_[node.outputs[0]] = variable;
    return true;
  }

  // `reader` takes the value in one of its candidates' layouts.
  void read(ValueId id, Variable reader, std::string Candidate::*layout) {
    if (!is_image(id)) return;
    const auto& wanted = network_.candidates[reader];
    std::vector<uint64_t>& own = network_.problem.own[reader];
    const std::optional<Variable> maker = makers_[id];
    if (!maker) {
      for (size_t i = 0; i < wanted.size(); ++i)
        own[i] += move(id, plain_name(id), wanted[i].*layout);
      return;
    }
    const auto& made = network_.candidates[*maker];
    Between between{*maker, reader, {}};
    for (const Candidate& from : made)
      for (const Candidate& to : wanted) between.costs.push_back(move(id, from.result, to.*layout));
    if (*maker != reader) {
      network_.problem.between.push_back(std::move(between));
      return;
    }
    for (size_t i = 0; i < own.size(); ++i) own[i] += between.costs[i * own.size() + i];
  }

  // Something takes the value in C order.
  void read_plain(ValueId id) {
    if (!is_image(id) || !makers_[id]) return;
    const Variable maker = *makers_[id];
    for (size_t i = 0; i < network_.candidates[maker].size(); ++i)
      network_.problem.own[maker][i] +=
          move(id, network_.candidates[maker][i].result, plain_name(id));
  }

  // The result lies as the first image among the operands; false where no convolution has made one.
  bool keep(const graph::Node& node) {
    const ValueId y = node.outputs[0];
    const size_t rank = value(y).shape.size();
    const auto first = std::ranges::find_if(node.inputs, [&](ValueId id) {
      return id != kNoValue && is_image(id) && makers_[id].has_value() &&
             value(id).shape.size() == rank;
    });
    if (first == node.inputs.end() || !is_image(y)) return false;
    const Variable maker = *makers_[*first];
    for (auto other = node.inputs.begin(); other != node.inputs.end(); ++other)
      if (other != first && *other != kNoValue && value(*other).shape.size() == rank)
        read(*other, maker, &Candidate::result);
    if (std::holds_alternative<graph::Concat>(node.op)) add_copies(y, maker);
    makers_[y] = maker;
    return true;
  }

  void add_copies(ValueId y, Variable maker) {
    const auto& made = network_.candidates[maker];
    for (size_t i = 0; i < made.size(); ++i)
      if (joins_by_copies(made[i].result))
        network_.problem.own[maker][i] += copy(y, made[i].result, made[i].result);
  }

  const graph::Graph& graph_;
  const ElementType type_;
  Times& times_;
  std::vector<std::optional<Variable>> makers_;  // by value: whose result gives it its layout
  Network network_;
  bool is_time_missing_ = false;
};

}  // namespace

std::optional<Network> describe(const graph::CompiledModel& model, ElementType type, Times& times) {
  return Description(model, type, times).take();
}

}  // namespace millrace::device::cpu::plan
