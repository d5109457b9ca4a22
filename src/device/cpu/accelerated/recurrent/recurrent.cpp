// LSTM, GRU and RNN by oneDNN, in FP32, with constant weights; the LSTM of a single sequence
// by loops of our own. Not covered, and left to the plain kernel: peepholes, clipping, other
// activations than the default ones, sequences of different lengths or without steps, coupled
// gates, and tensors with the batch first.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/recurrent/lstm_sequence.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/dnnl/defects.h"
#include "device/cpu/kernels/primitives.h"
#include "fallback/activation.h"

namespace millrace::device::cpu::accelerated {
namespace {

using fallback::ActivationKind;
using fallback::NodeView;
using graph::kNoValue;
using graph::ValueId;

constexpr size_t kX = 0, kWeights = 1, kRecurrence = 2, kBias = 3, kLengths = 4, kInitialH = 5,
                 kInitialC = 6, kPeepholes = 7;

// The differences between the operators, and between the two forms of GRU, for oneDNN.
struct CellKind {
  std::vector<size_t> gates;  // oneDNN's gates, each by its position in ONNX
  // oneDNN's biases: sums of those of ONNX, by position among those of the input and, behind them,
  // those of the recurrence.
  std::vector<std::vector<size_t>> biases;
  bool has_cell_state = false;
};

CellKind lstm_kind() {
  return {{0, 2, 3, 1}, {{0, 4}, {2, 6}, {3, 7}, {1, 5}}, true};
}
CellKind gru_kind() {
  return {{0, 1, 2}, {{0, 3}, {1, 4}, {2, 5}}};
}
// The reset gate applies to the product with the state, whose bias is a fourth one.
CellKind gru_with_late_reset_kind() {
  return {{0, 1, 2}, {{0, 3}, {1, 4}, {2}, {5}}};
}
CellKind rnn_kind() {
  return {{0}, {{0, 1}}};
}

struct Extents {
  int64_t steps, batch, input, hidden, directions;
};

Extents extents_of(const NodeView& view) {
  const auto x = view.in(kX).dims, recurrence = view.in(kRecurrence).dims;
  return {x[0], x[1], x[2], recurrence[2], recurrence[0]};
}

dnnl::rnn_direction direction_of(const NodeView& view) {
  const std::string direction = view.text("direction", "forward");
  if (direction == "bidirectional") return dnnl::rnn_direction::bidirectional_concat;
  return direction == "reverse" ? dnnl::rnn_direction::unidirectional_right2left
                                : dnnl::rnn_direction::unidirectional_left2right;
}

// Whether every sequence has all steps, and that is known.
bool are_all_full(const NodeView& view) {
  if (!view.has(kLengths)) return true;
  const auto& lengths = view.in(kLengths);
  if (lengths.data == nullptr) return false;
  return std::ranges::all_of(lengths.as<int32_t>(),
                             [&](int32_t length) { return length == view.in(kX).dims[0]; });
}

bool is_covered(const Builder& builder, const AcceleratedNode& node) {
  const NodeView& view = node.view;
  if (view.in(kX).elements() == 0) return false;
  for (const size_t index : {kWeights, kRecurrence, kBias}) {
    const ValueId id = node.input(index);
    if (id != kNoValue && !builder.is_constant(id)) return false;
  }
  return view.integer("layout") == 0 && view.integer("input_forget") == 0 &&
         view.real("clip") == 0 && !view.has(kPeepholes) && are_all_full(view);
}

// The activation of each gate, the same for both directions; nothing where they differ.
std::optional<std::vector<ActivationKind>> activations_of(
    const NodeView& view, std::span<const ActivationKind> defaults) {
  const size_t directions = view.text("direction", "forward") == "bidirectional" ? 2 : 1;
  const auto all = fallback::recurrent_activations(view, defaults.size() * directions, defaults);
  if (!all.ok()) return std::nullopt;
  std::vector<ActivationKind> kinds;
  for (size_t i = 0; i < all->size(); ++i) {
    if (i < defaults.size())
      kinds.push_back((*all)[i].kind);
    else if ((*all)[i].kind != kinds[i - defaults.size()])
      return std::nullopt;
  }
  return kinds;
}

bool has_activations(const NodeView& view, std::span<const ActivationKind> wanted) {
  const auto kinds = activations_of(view, wanted);
  return kinds && std::ranges::equal(*kinds, wanted);
}

// The memory descriptors of a node; empty where an operand is absent.
struct Descs {
  Desc x, h, c, weights, recurrence, bias, y, last_h, last_c;
};

class Cells {
 public:
  Cells(Builder& builder, const AcceleratedNode& node, CellKind kind)
      : builder_(builder),
        node_(node),
        kind_(std::move(kind)),
        extents_(extents_of(node.view)),
        has_state_(node.input(kInitialH) != kNoValue || node.input(kInitialC) != kNoValue) {}

  Descs descs() const {
    const auto& [steps, batch, input, hidden, directions] = extents_;
    const auto gates = static_cast<int64_t>(kind_.gates.size());
    const auto biases = static_cast<int64_t>(kind_.biases.size());
    const Desc state = plain({1, directions, batch, hidden});
    Descs descs;
    descs.x = plain({steps, batch, input});
    descs.weights = any_desc({1, directions, input, gates, hidden}, ElementType::f32);
    descs.recurrence = any_desc({1, directions, hidden, gates, hidden}, ElementType::f32);
    descs.bias = plain({1, directions, biases, hidden});
    descs.y = plain({steps, batch, directions * hidden});
    if (has_state_) descs.h = state;
    descs.last_h = state;
    if (has_state_ && kind_.has_cell_state) descs.c = state;
    if (kind_.has_cell_state) descs.last_c = state;
    return descs;
  }

  template <class Primitive>
  Result<bool> add(const typename Primitive::primitive_desc& primitive) {
    MILLRACE_ASSIGN_OR_RETURN(std::vector<Argument> arguments, operands());
    arguments.push_back(
        {DNNL_ARG_WEIGHTS_LAYER, weights(kWeights, primitive.weights_layer_desc())});
    arguments.push_back(
        {DNNL_ARG_WEIGHTS_ITER, weights(kRecurrence, primitive.weights_iter_desc())});
    arguments.push_back({DNNL_ARG_BIAS, biases()});
    const Results results = make_results(arguments);
    builder_.add_primitive(name_of(node_.node.op), primitive, Primitive(primitive),
                           std::move(arguments));
    finish(results);
    return true;
  }

 private:
  static Desc plain(const Dims& dims) { return plain_desc(dims, ElementType::f32); }

  Result<std::vector<Argument>> operands() {
    const Descs all = descs();
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, plain_operand(builder_, node_.input(kX)));
    std::vector<Argument> arguments = {{DNNL_ARG_SRC_LAYER, {x.buffer, all.x}}};
    if (!has_state_) return arguments;
    MILLRACE_ASSIGN_OR_RETURN(const Operand h, initial(kInitialH, all.h));
    arguments.push_back({DNNL_ARG_SRC_ITER, h});
    if (!kind_.has_cell_state) return arguments;
    MILLRACE_ASSIGN_OR_RETURN(const Operand c, initial(kInitialC, all.c));
    arguments.push_back({DNNL_ARG_SRC_ITER_C, c});
    return arguments;
  }

  // oneDNN takes both states of an LSTM or none.
  Result<Operand> initial(size_t index, const Desc& desc) {
    if (node_.input(index) == kNoValue) {
      const auto count = desc.get_size() / sizeof(float);
      return builder_.add_constant(desc, std::vector<float>(count, 0));
    }
    MILLRACE_ASSIGN_OR_RETURN(const Operand state, plain_operand(builder_, node_.input(index)));
    return Operand{state.buffer, desc};
  }

  // Permutes [directions, gates * hidden, columns] to [1, directions, columns, gates, hidden].
  Operand weights(size_t index, const Desc& wanted) {
    const std::vector<float> from = builder_.constant_floats(node_.input(index));
    const size_t gates = kind_.gates.size(), hidden = static_cast<size_t>(extents_.hidden);
    const auto directions = static_cast<size_t>(extents_.directions);
    const size_t columns = from.size() / (directions * gates * hidden);
    std::vector<float> to;
    to.reserve(from.size());
    for (size_t direction = 0; direction < directions; ++direction)
      for (size_t column = 0; column < columns; ++column)
        for (const size_t gate : kind_.gates)
          for (size_t i = 0; i < hidden; ++i)
            to.push_back(from[((direction * gates + gate) * hidden + i) * columns + column]);
    return builder_.add_constant(wanted, to);
  }

  // Makes oneDNN's biases from [directions, 2 * gates * hidden].
  Operand biases() {
    const size_t hidden = static_cast<size_t>(extents_.hidden);
    const auto directions = static_cast<size_t>(extents_.directions);
    const size_t row = 2 * kind_.gates.size() * hidden;
    std::vector<float> from(directions * row, 0);
    if (node_.input(kBias) != kNoValue) from = builder_.constant_floats(node_.input(kBias));
    std::vector<float> to;
    for (size_t direction = 0; direction < directions; ++direction)
      for (const std::vector<size_t>& terms : kind_.biases)
        for (size_t i = 0; i < hidden; ++i) {
          float sum = 0;
          for (const size_t term : terms) sum += from[direction * row + term * hidden + i];
          to.push_back(sum);
        }
    return builder_.add_constant(descs().bias, to);
  }

  // The results that the primitive writes: the node's own ones, except for those whose dimensions
  // lie in another order.
  struct Results {
    Operand sequence;               // as the primitive has it: both directions side by side
    std::vector<Operand> of_nodes;  // by number of the output
    bool is_apart = false;
  };

  Results make_results(std::vector<Argument>& arguments) {
    const Descs all = descs();
    Results results;
    for (const ValueId id : node_.node.outputs)
      results.of_nodes.push_back(plain_result(builder_, id));
    results.is_apart = extents_.directions > 1 && extents_.batch > 1;
    results.sequence = results.is_apart ? builder_.new_temporary(all.y)
                                        : Operand{results.of_nodes[0].buffer, all.y};
    arguments.push_back({DNNL_ARG_DST_LAYER, results.sequence});
    arguments.push_back({DNNL_ARG_DST_ITER, state_result(results, 1, all.last_h)});
    if (kind_.has_cell_state)
      arguments.push_back({DNNL_ARG_DST_ITER_C, state_result(results, 2, all.last_c)});
    return results;
  }

  Operand state_result(const Results& results, size_t index, const Desc& desc) {
    if (index >= results.of_nodes.size()) return builder_.new_temporary(desc);
    return {results.of_nodes[index].buffer, desc};
  }

  void finish(const Results& results) {
    if (results.is_apart) {
      const Operand& y = results.of_nodes[0];
      builder_.add_reorder(node_.node.outputs[0], {results.sequence.buffer, by_direction()},
                           {y.buffer, plain(by_direction().dims())});
    }
    for (size_t i = 0; i < results.of_nodes.size(); ++i)
      finish_result(builder_, node_.node.outputs[i], results.of_nodes[i]);
  }

  // The primitive's result [steps, batch, directions * hidden] as [steps, directions, batch,
  // hidden].
  Desc by_direction() const {
    const std::vector<uint32_t> order = {0, 2, 1, 3};
    return ordered_desc({extents_.steps, extents_.directions, extents_.batch, extents_.hidden},
                        ElementType::f32, order);
  }

  Builder& builder_;
  const AcceleratedNode& node_;
  const CellKind kind_;
  const Extents extents_;
  const bool has_state_;
};

// The primitive that `make` gives; false where oneDNN has none.
template <class Primitive, class Make>
Result<bool> lower_with(Cells& cells, Make&& make) {
  using PrimitiveDesc = typename Primitive::primitive_desc;
  const auto choice = kernels::choose(std::vector{0}, [&](int) -> PrimitiveDesc { return make(); });
  if (!choice) return false;
  return cells.add<Primitive>(choice->primitive);
}

constexpr auto kInference = dnnl::prop_kind::forward_inference;
constexpr std::array kLstmActivations = {ActivationKind::kSigmoid, ActivationKind::kTanh,
                                         ActivationKind::kTanh};

}  // namespace

Result<bool> lower_lstm(Builder& builder, const AcceleratedNode& node) {
  if (!is_covered(builder, node) || !has_activations(node.view, kLstmActivations)) return false;
  if (is_lstm_sequence(node)) return lower_lstm_sequence(builder, node, /*rounds_state=*/false);
  Cells cells(builder, node, lstm_kind());
  const Descs d = cells.descs();
  return lower_with<dnnl::lstm_forward>(cells, [&] {
    return find_primitive<dnnl::lstm_forward>(
        builder.engine(), kernels::make_attributes(), kInference, direction_of(node.view), d.x, d.h,
        d.c, d.weights, d.recurrence, d.bias, d.y, d.last_h, d.last_c);
  });
}

// The states of several sequences are rounded together, step by step: no loop does that.
Result<bool> lower_rounded_lstm(Builder& builder, const AcceleratedNode& node) {
  if (!is_covered(builder, node) || !has_activations(node.view, kLstmActivations) ||
      !is_lstm_sequence(node))
    return false;
  return lower_lstm_sequence(builder, node, /*rounds_state=*/true);
}

Result<bool> lower_gru(Builder& builder, const AcceleratedNode& node) {
  constexpr std::array kActivations = {ActivationKind::kSigmoid, ActivationKind::kTanh};
  if (!is_covered(builder, node) || !has_activations(node.view, kActivations)) return false;
  const auto lower_as = [&]<class Primitive>(const CellKind& kind, const Primitive*) {
    Cells cells(builder, node, kind);
    const Descs d = cells.descs();
    return lower_with<Primitive>(cells, [&] {
      return find_primitive<Primitive>(builder.engine(), kernels::make_attributes(), kInference,
                                       direction_of(node.view), d.x, d.h, d.weights, d.recurrence,
                                       d.bias, d.y, d.last_h);
    });
  };
  if (node.view.integer("linear_before_reset") != 0)
    return lower_as(gru_with_late_reset_kind(), static_cast<const dnnl::lbr_gru_forward*>(nullptr));
  if (extents_of(node.view).hidden == 1 && !kGruOfOneUnitKeepsStates) return false;
  return lower_as(gru_kind(), static_cast<const dnnl::gru_forward*>(nullptr));
}

Result<bool> lower_rnn(Builder& builder, const AcceleratedNode& node) {
  constexpr std::array kActivations = {ActivationKind::kTanh};
  const auto kinds = activations_of(node.view, kActivations);
  if (!is_covered(builder, node) || !kinds) return false;
  const ActivationKind kind = kinds->front();
  // oneDNN's ReLU loses NaNs.
  if (kind != ActivationKind::kTanh) return false;
  Cells cells(builder, node, rnn_kind());
  const Descs d = cells.descs();
  return lower_with<dnnl::vanilla_rnn_forward>(cells, [&] {
    return find_primitive<dnnl::vanilla_rnn_forward>(
        builder.engine(), kernels::make_attributes(), kInference, dnnl::algorithm::eltwise_tanh,
        direction_of(node.view), d.x, d.h, d.weights, d.recurrence, d.bias, d.y, d.last_h);
  });
}

}  // namespace millrace::device::cpu::accelerated
