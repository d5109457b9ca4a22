// A network in which each convolution is a variable, and the candidates for it are its options. A
// variable's own cost is the time of the candidate and of the reorders to and from operators that
// want C order. The cost between two variables is the time of a reorder, if the one makes an image
// in another layout than the other reads. Operators that keep a layout pass on the variable of
// their first operand.
#include "device/cpu/plan/network.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "device/cpu/kernels/separable/pairs.h"

namespace millrace::device::cpu::plan {
namespace {

using graph::kNoValue;
using graph::ValueId;

// True for NPU nodes in the program's type. Others have their usual form, and read copies.
bool is_in_type(const graph::Node& node, const graph::Partition& partition) {
  return partition.kind == graph::PartitionKind::kNpu && !node.precision;
}

// Whether the value is an image that could lie in one layout or another.
bool is_image(const graph::Value& value) {
  return tensor::fits_float32(value.type) && !value.constant && !value.quantisation &&
         value.shape.size() >= 3 && value.shape.size() <= 5 && value.elements() > 0;
}

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

// More than all times of a network, of which a record has none above 1e12 ns; sums of a few do not
// overflow.
constexpr uint64_t kForbidden = uint64_t{1} << 58;

class Description {
 public:
  Description(const graph::CompiledModel& model, ElementType type, const Division& division,
              Times& times)
      : model_(model),
        graph_(model.graph),
        readers_(graph::consumers_of(model.graph)),
        type_(type),
        division_(division),
        times_(times),
        makers_(graph_.values.size()),
        is_between_(graph_.values.size()) {
    for (const graph::Partition& partition : model.partitions)
      for (uint32_t i = 0; i < partition.count; ++i) add_node(partition.first + i, partition);
    lanes_ = 1;
    for (const graph::Boundary& output : model.outputs) read_plain(output.value);
  }

  std::optional<Network> take() {
    if (is_time_missing_) return std::nullopt;
    return std::move(network_);
  }

 private:
  using Variable = uint32_t;

  const graph::Value& value(ValueId id) const { return graph_.values[id]; }

  bool is_image(ValueId id) const { return plan::is_image(value(id)); }

  std::string plain_name(ValueId id) const {
    return layout_name(plain_desc(value(id).shape, type_));
  }

  uint64_t copy(ValueId id, const std::string& from, const std::string& to) {
    const auto nanoseconds = times_.move(value(id).shape, type_, from, to, lanes_);
    if (!nanoseconds) is_time_missing_ = true;
    return nanoseconds.value_or(0);
  }
  uint64_t move(ValueId id, const std::string& from, const std::string& to) {
    return from == to ? 0 : copy(id, from, to);
  }

  void add_node(uint32_t index, const graph::Partition& partition) {
    const graph::Node& node = graph_.nodes[index];
    lanes_ = division_.chunks_of(node);
    if (is_planned(graph_, node, partition) && add_convolution(index, partition)) return;
    if (is_in_type(node, partition) && keeps_layout(node.op) && keep(node)) return;
    for (const ValueId id : node.inputs)
      if (id != kNoValue) read_plain(id);
  }

  // Returns false if there is nothing to choose for it.
  bool add_convolution(uint32_t index, const graph::Partition& partition) {
    const graph::Node& node = graph_.nodes[index];
    const kernels::Convolution convolution(graph_, node, std::get<graph::Conv>(node.op), type_);
    std::optional<std::vector<Candidate>> candidates = times_.candidates(convolution, lanes_);
    if (!candidates) is_time_missing_ = true;
    if (!candidates || candidates->empty()) return false;
    const auto variable = static_cast<Variable>(network_.nodes.size());
    const bool is_second = begun_.contains(index);
    add_separable(index, convolution, partition, *candidates);
    std::vector<uint64_t> own;
    for (const Candidate& each : *candidates) own.push_back(own_cost(index, each));
    network_.nodes.push_back(index);
    network_.candidates.push_back(*std::move(candidates));
    network_.begun_by.push_back(is_second ? makers_[node.input(0)] : std::nullopt);
    network_.problem.own.push_back(std::move(own));
    read(node.input(0), variable, &Candidate::source);
    if (const ValueId residual = node.input(3); residual != kNoValue)
      read(residual, variable, &Candidate::result);
    makers_[node.outputs[0]] = variable;
    return true;
  }

  // Each of two convolutions that are one step bears half of its time, so that neither appears to
  // be free.
  uint64_t own_cost(uint32_t index, const Candidate& candidate) const {
    if (candidate.form != Form::kSeparable) return candidate.nanoseconds;
    const auto step = begun_.find(index);
    if (step == begun_.end()) return candidate.nanoseconds / 2;
    const uint64_t whole = step->second.nanoseconds;
    return whole - whole / 2;
  }

  // Returns the step of this convolution, the pointwise one, and of its partner.
  std::optional<Candidate> step_of(const kernels::Convolution& convolution, uint32_t partner) {
    const graph::Node& next = graph_.nodes[partner];
    const kernels::Convolution other(graph_, next, std::get<graph::Conv>(next.op), type_);
    std::optional<Candidate> step = times_.pair(convolution, other, lanes_);
    if (!step) is_time_missing_ = true;
    return step;
  }

  // Adds the step that computes the convolution together with another, if there is one. It precedes
  // the other candidates, since of equal times the first one wins.
  void add_separable(uint32_t index, const kernels::Convolution& convolution,
                     const graph::Partition& partition, std::vector<Candidate>& candidates) {
    if (const auto step = begun_.find(index); step != begun_.end()) {
      const Candidate& whole = step->second;
      candidates.insert(candidates.begin(),
                        {Form::kSeparable, whole.result, whole.result, whole.kernel, 0});
      return;
    }
    const auto partner = kernels::separable::partner_of(model_, type_, readers_, partition, index);
    if (!partner) return;
    const std::optional<Candidate> step = step_of(convolution, *partner);
    if (!step) return;
    candidates.insert(candidates.begin(), *step);
    begun_.emplace(*partner, *step);
    is_between_[graph_.nodes[index].outputs[0]] = true;
  }

  // Returns the cost of reordering the value from the layout of one candidate to that of another.
  uint64_t cost(ValueId id, const Candidate& from, const Candidate& to,
                std::string Candidate::*layout) {
    const bool is_begun = from.form == Form::kSeparable, is_ended = to.form == Form::kSeparable;
    if (!is_between_[id] || (!is_begun && !is_ended)) return move(id, from.result, to.*layout);
    return is_begun && is_ended ? 0 : kForbidden;
  }

  // Adds the costs of `reader` taking the value in the layout of each of its candidates.
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
      for (const Candidate& to : wanted) between.costs.push_back(cost(id, from, to, layout));
    if (*maker != reader) {
      network_.problem.between.push_back(std::move(between));
      return;
    }
    for (size_t i = 0; i < own.size(); ++i) own[i] += between.costs[i * own.size() + i];
  }

  // Adds the costs of a reader that takes the value in C order.
  void read_plain(ValueId id) {
    if (!is_image(id) || !makers_[id]) return;
    const Variable maker = *makers_[id];
    for (size_t i = 0; i < network_.candidates[maker].size(); ++i) {
      const Candidate& made = network_.candidates[maker][i];
      const bool is_begun = is_between_[id] && made.form == Form::kSeparable;
      network_.problem.own[maker][i] +=
          is_begun ? kForbidden : move(id, made.result, plain_name(id));
    }
  }

  // Gives the result the layout of the first image among the operands. Returns false if no
  // convolution has made one.
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

  const graph::CompiledModel& model_;
  const graph::Graph& graph_;
  const kernels::separable::Readers readers_;
  const ElementType type_;
  const Division& division_;
  Times& times_;
  uint32_t lanes_ = 1;  // that take part in the node that is being described
  std::vector<std::optional<Variable>> makers_;  // by value: whose result gives it its layout
  std::map<uint32_t, Candidate> begun_;          // by node: the step of it and the one before
  std::vector<bool> is_between_;                 // by value: whether such a step keeps it to itself
  Network network_;
  bool is_time_missing_ = false;
};

}  // namespace

bool is_planned(const graph::Graph& graph, const graph::Node& node,
                const graph::Partition& partition) {
  if (!is_in_type(node, partition) || !std::holds_alternative<graph::Conv>(node.op)) return false;
  const graph::Value& weight = graph.values[node.input(1)];
  return is_image(graph.values[node.input(0)]) && is_image(graph.values[node.outputs[0]]) &&
         weight.constant && !weight.quantisation;
}

std::optional<Network> describe(const graph::CompiledModel& model, ElementType type,
                                const Division& division, Times& times) {
  return Description(model, type, division, times).take();
}

}  // namespace millrace::device::cpu::plan
