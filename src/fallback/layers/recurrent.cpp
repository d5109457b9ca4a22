// LSTM, GRU and RNN, with all options of the standard, and millrace.RoundedLSTM for
// DynamicQuantizeLSTM. A cell runs along each sequence, in one direction or both:
//   gates = activation(W x + Wb + R h + Rb), followed by the equations of the cell.
// Weights are transposed once per run, so that matrix-vector products read rows. Sequences are
// processed one by one, except if their states are quantised together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fallback/activation.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/quantised/dynamic_range.h"

namespace millrace::fallback {
namespace {

constexpr size_t kX = 0, kWeights = 1, kRecurrence = 2, kBias = 3, kLengths = 4, kInitialH = 5,
                 kInitialC = 6, kPeepholes = 7;

// The properties that distinguish LSTM, GRU and RNN.
struct CellKind {
  size_t gates;
  std::array<ActivationKind, 3> activations;  // the default ones
  size_t activation_count;                    // per direction
};
constexpr CellKind kLstm = {
    4, {ActivationKind::kSigmoid, ActivationKind::kTanh, ActivationKind::kTanh}, 3};
constexpr CellKind kGru = {3, {ActivationKind::kSigmoid, ActivationKind::kTanh}, 2};
constexpr CellKind kRnn = {1, {ActivationKind::kTanh}, 1};

// The dimensions of a node, and the offsets of its data. With layout = 1 the batch comes first.
struct Extents {
  size_t steps, batch, input, hidden, directions;
  bool batch_first;

  size_t x_at(size_t step, size_t sample) const {
    return (batch_first ? sample * steps + step : step * batch + sample) * input;
  }
  size_t y_at(size_t step, size_t direction, size_t sample) const {
    return (batch_first ? (sample * steps + step) * directions + direction
                        : (step * directions + direction) * batch + sample) *
           hidden;
  }
  // The offset in initial and final states.
  size_t state_at(size_t direction, size_t sample) const {
    return (batch_first ? sample * directions + direction : direction * batch + sample) * hidden;
  }
};

Result<Extents> extents_of(const NodeView& node) {
  const TensorView &x = node.in(kX), &recurrence = node.in(kRecurrence);
  if (x.rank() != 3 || recurrence.rank() != 3)
    return invalid_argument("the input and the recurrence weights must have rank 3");
  const bool batch_first = node.integer("layout") != 0;
  const auto dim = [&](size_t d) { return static_cast<size_t>(x.dims[d]); };
  const std::string direction = node.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return invalid_argument(fmt::format("unknown direction '{}'", direction));
  const size_t directions = direction == "bidirectional" ? 2 : 1;
  return Extents{dim(batch_first ? 1 : 0),
                 dim(batch_first ? 0 : 1),
                 dim(2),
                 static_cast<size_t>(recurrence.dims[2]),
                 directions,
                 batch_first};
}

Status check_operand(const NodeView& node, size_t index, std::span<const size_t> wanted,
                     DataType type = DataType::kFloat32) {
  if (!node.has(index)) return {};
  const TensorView& operand = node.in(index);
  const bool fits = std::ranges::equal(
      operand.dims, wanted, [](int64_t a, size_t b) { return static_cast<size_t>(a) == b; });
  if (fits && operand.type == type) return {};
  return invalid_argument(
      fmt::format("input {} is {} {}, not {} {}", index, tensor::to_string(operand.type),
                  graph::to_string(to_dims(operand.dims)), tensor::to_string(type),
                  graph::to_string(Dims(wanted.begin(), wanted.end()))));
}

template <const CellKind& kKind>
Result<std::vector<RecurrentActivation>> activations_of(const NodeView& node,
                                                        const Extents& extents) {
  return recurrent_activations(node, kKind.activation_count * extents.directions,
                               std::span(kKind.activations).first(kKind.activation_count));
}

template <const CellKind& kKind>
Status shape_of_cell(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Extents extents, extents_of(node));
  const auto& [steps, batch, input, hidden, directions, batch_first] = extents;
  const int64_t stated = node.integer("hidden_size", static_cast<int64_t>(hidden));
  if (stated != static_cast<int64_t>(hidden))
    return invalid_argument("hidden_size and the recurrence weights do not match");
  MILLRACE_RETURN_IF_ERROR(activations_of<kKind>(node, extents).status());
  const size_t rows = kKind.gates * hidden;
  const std::array state =
      batch_first ? std::array{batch, directions, hidden} : std::array{directions, batch, hidden};
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kWeights, std::array{directions, rows, input}));
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kRecurrence, std::array{directions, rows, hidden}));
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kBias, std::array{directions, 2 * rows}));
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kLengths, std::array{batch}, DataType::kInt32));
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kInitialH, state));
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kInitialC, state));
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kPeepholes, std::array{directions, 3 * hidden}));
  const auto narrow = [](size_t size) { return static_cast<int64_t>(size); };
  Dims sequence = {narrow(steps), narrow(directions), narrow(batch), narrow(hidden)};
  if (batch_first) sequence = {sequence[2], sequence[0], sequence[1], sequence[3]};
  node.set(0, DataType::kFloat32, std::move(sequence));
  node.set(1, DataType::kFloat32, Dims(state.begin(), state.end()));
  node.set(2, DataType::kFloat32, Dims(state.begin(), state.end()));
  return {};
}

// The transposed weights of one direction, so that a product reads them row by row.
class Weights {
 public:
  Weights(const TensorView& weights, size_t direction)
      : outputs_(static_cast<size_t>(weights.dims[1])),
        inputs_(static_cast<size_t>(weights.dims[2])),
        columns_(outputs_ * inputs_) {
    const auto from = weights.as<float>().subspan(direction * columns_.size(), columns_.size());
    for (size_t o = 0; o < outputs_; ++o)
      for (size_t i = 0; i < inputs_; ++i) columns_[i * outputs_ + o] = from[o * inputs_ + i];
  }

  // Adds the product with `x` for the outputs [first, first + to.size()).
  void add_product(const float* x, std::span<float> to, size_t first) const {
    for (size_t i = 0; i < inputs_; ++i) {
      const float factor = x[i];
      const float* column = columns_.data() + i * outputs_ + first;
      for (size_t o = 0; o < to.size(); ++o) to[o] += factor * column[o];
    }
  }

 private:
  size_t outputs_, inputs_;
  std::vector<float> columns_;
};

// One direction of a node: the weights, biases and activations that all its steps share.
class Direction {
 public:
  Direction(const Call& call, const Extents& extents, size_t gates, size_t index,
            std::span<const RecurrentActivation> activations)
      : hidden_(extents.hidden),
        activations_(activations),
        weights_(call.in(kWeights), index),
        recurrence_(call.in(kRecurrence), index),
        clip_(call.real("clip", 0)) {
    const size_t rows = gates * hidden_;
    zeros_.resize(2 * rows);
    const float* bias =
        call.has(kBias) ? call.in(kBias).as<float>().data() + index * 2 * rows : zeros_.data();
    input_bias_ = {bias, rows};
    recurrence_bias_ = {bias + rows, rows};
    if (call.has(kPeepholes))
      peepholes_ = call.in(kPeepholes).as<float>().subspan(index * 3 * hidden_, 3 * hidden_);
  }

  size_t hidden() const { return hidden_; }
  float activate(size_t which, float x) const { return activations_[which](clipped(x)); }
  float clipped(float x) const { return clip_ > 0 ? std::clamp(x, -clip_, clip_) : x; }
  // Returns the contribution of an LSTM peephole to a gate.
  float peephole(size_t which, size_t i, float cell) const {
    return peepholes_.empty() ? 0 : peepholes_[which * hidden_ + i] * cell;
  }

  // Returns the contribution of the input and its bias to all gates.
  std::vector<float> from_input(const float* x) const {
    std::vector<float> sums(input_bias_.begin(), input_bias_.end());
    weights_.add_product(x, sums, 0);
    return sums;
  }
  // Adds the contribution of the state and its bias to the gates [first, first + count).
  void add_state(const float* h, std::vector<float>& sums, size_t first, size_t count) const {
    const std::span<float> part(sums.data() + first * hidden_, count * hidden_);
    for (size_t i = 0; i < part.size(); ++i) part[i] += recurrence_bias_[first * hidden_ + i];
    recurrence_.add_product(h, part, first * hidden_);
  }
  // Returns the contribution of the state and its bias to one gate.
  std::vector<float> from_state(const float* h, size_t gate) const {
    const auto bias = recurrence_bias_.subspan(gate * hidden_, hidden_);
    std::vector<float> sums(bias.begin(), bias.end());
    recurrence_.add_product(h, sums, gate * hidden_);
    return sums;
  }

 private:
  size_t hidden_;
  std::span<const RecurrentActivation> activations_;
  Weights weights_, recurrence_;
  float clip_;
  std::vector<float> zeros_;
  std::span<const float> input_bias_, recurrence_bias_, peepholes_;
};

// The state of one sample.
struct State {
  std::vector<float> h, c;
};

// Gates are in the order input, output, forget, cell.
struct LstmCell {
  static constexpr bool kRoundsState = false;
  bool coupled;  // the forget gate is 1 - the input gate, as in ONNX Runtime

  explicit LstmCell(const Call& call) : coupled(call.integer("input_forget") != 0) {}

  void step(const Direction& direction, const float* x, State& state) const {
    std::vector<float> sums = direction.from_input(x);
    direction.add_state(state.h.data(), sums, 0, 4);
    const size_t n = direction.hidden();
    for (size_t i = 0; i < n; ++i) {
      const float before = state.c[i];
      const float input = direction.activate(0, sums[i] + direction.peephole(0, i, before));
      const float forget =
          coupled ? 1 - input
                  : direction.activate(0, sums[2 * n + i] + direction.peephole(2, i, before));
      const float cell = forget * before + input * direction.activate(1, sums[3 * n + i]);
      const float output = direction.activate(0, sums[n + i] + direction.peephole(1, i, cell));
      state.c[i] = cell;
      state.h[i] = output * direction.activate(2, cell);
    }
  }
};

// An LSTM whose state is quantised to bytes and dequantised before each step, with one range for
// all samples.
struct RoundedLstmCell : LstmCell {
  static constexpr bool kRoundsState = true;
  using LstmCell::LstmCell;
};

// Gates are in the order update, reset, hidden.
struct GruCell {
  static constexpr bool kRoundsState = false;
  bool reset_after;  // the reset gate multiplies R h + Rb instead of h

  explicit GruCell(const Call& call) : reset_after(call.integer("linear_before_reset") != 0) {}

  void step(const Direction& direction, const float* x, State& state) const {
    std::vector<float> sums = direction.from_input(x);
    direction.add_state(state.h.data(), sums, 0, 2);
    const size_t n = direction.hidden();
    std::vector<float> kept = state.h;
    for (size_t i = 0; i < n; ++i) sums[n + i] = direction.activate(0, sums[n + i]);
    if (!reset_after)
      for (size_t i = 0; i < n; ++i) kept[i] *= sums[n + i];
    const std::vector<float> share = direction.from_state(kept.data(), 2);
    for (size_t i = 0; i < n; ++i) {
      const float update = direction.activate(0, sums[i]);
      const float reset = reset_after ? sums[n + i] : 1;
      const float candidate = direction.activate(1, sums[2 * n + i] + reset * share[i]);
      state.h[i] = (1 - update) * candidate + update * state.h[i];
    }
  }
};

struct RnnCell {
  static constexpr bool kRoundsState = false;
  explicit RnnCell(const Call&) {}

  void step(const Direction& direction, const float* x, State& state) const {
    std::vector<float> sums = direction.from_input(x);
    direction.add_state(state.h.data(), sums, 0, 1);
    for (size_t i = 0; i < sums.size(); ++i) state.h[i] = direction.activate(0, sums[i]);
  }
};

std::vector<float> initial_state(const Call& call, size_t index, const Extents& extents,
                                 size_t direction, size_t sample) {
  if (!call.has(index)) return std::vector<float>(extents.hidden, 0);
  const auto all = call.in(index).as<float>();
  const auto own = all.subspan(extents.state_at(direction, sample), extents.hidden);
  return {own.begin(), own.end()};
}

// Returns the number of steps of a sample. The rest of its sequence is padding.
Result<size_t> length_of(const Call& call, const Extents& extents, size_t sample) {
  if (!call.has(kLengths)) return extents.steps;
  const int32_t length = call.in(kLengths).as<int32_t>()[sample];
  if (length >= 0 && static_cast<size_t>(length) <= extents.steps)
    return static_cast<size_t>(length);
  return invalid_argument(fmt::format("sequence {} has length {}, but there are {} steps", sample,
                                      length, extents.steps));
}

void store(const Call& call, size_t output, size_t at, const std::vector<float>& values) {
  if (output < call.output_count())
    std::ranges::copy(values, call.out(output).as<float>().begin() + static_cast<ptrdiff_t>(at));
}

// Quantises and dequantises the states of the sequences that have a step `step`, with one range for
// all of them.
void round(std::vector<State>& states, std::span<const size_t> lengths, size_t step) {
  DynamicRange range;
  for (size_t sample = 0; sample < states.size(); ++sample)
    if (step < lengths[sample]) range.include(states[sample].h);
  const tensor::ElementRule rule = range.rule();
  for (size_t sample = 0; sample < states.size(); ++sample) {
    if (step >= lengths[sample]) continue;
    for (float& h : states[sample].h)
      h = tensor::dequantise<float>(tensor::quantise<uint8_t>(h, rule), rule);
  }
}

// Some sequences of a batch, from `first` on, in one direction of a node.
struct Sequences {
  size_t first;
  std::vector<size_t> lengths;
  std::vector<State> states;
};

Result<Sequences> begin_sequences(const Call& call, const Extents& extents, size_t index,
                                  size_t first, size_t count) {
  Sequences result{first, {}, {}};
  for (size_t sample = first; sample < first + count; ++sample) {
    MILLRACE_ASSIGN_OR_RETURN(result.lengths.emplace_back(), length_of(call, extents, sample));
    result.states.push_back({initial_state(call, kInitialH, extents, index, sample),
                             initial_state(call, kInitialC, extents, index, sample)});
  }
  return result;
}

template <class Cell>
void run_sequences(const Call& call, const Extents& extents, const Direction& direction,
                   size_t index, Sequences sequences) {
  const Cell cell(call);
  const bool backwards = index == 1 || call.text("direction", "forward") == "reverse";
  auto& [first, lengths, states] = sequences;
  const std::vector<float> padding(extents.hidden, 0);
  for (size_t i = 0; i < extents.steps; ++i) {
    if constexpr (Cell::kRoundsState) round(states, lengths, i);
    for (size_t k = 0; k < states.size(); ++k) {
      const bool is_padding = i >= lengths[k];
      const size_t step = backwards && !is_padding ? lengths[k] - 1 - i : i;
      const float* x = call.in(kX).as<float>().data() + extents.x_at(step, first + k);
      if (!is_padding) cell.step(direction, x, states[k]);
      store(call, 0, extents.y_at(step, index, first + k), is_padding ? padding : states[k].h);
    }
  }
  for (size_t k = 0; k < states.size(); ++k) {
    store(call, 1, extents.state_at(index, first + k), states[k].h);
    store(call, 2, extents.state_at(index, first + k), states[k].c);
  }
}

// Runs all sequences of the batch together if their states are quantised together, and otherwise
// one after another.
template <class Cell>
Status run_direction(const Call& call, const Extents& extents, const Direction& direction,
                     size_t index) {
  const size_t count = Cell::kRoundsState ? extents.batch : 1;
  for (size_t first = 0; first < extents.batch; first += count) {
    MILLRACE_ASSIGN_OR_RETURN(Sequences sequences,
                              begin_sequences(call, extents, index, first, count));
    run_sequences<Cell>(call, extents, direction, index, std::move(sequences));
  }
  return {};
}

template <class Cell, const CellKind& kKind>
Status run_cells(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Extents extents, extents_of(call));
  MILLRACE_ASSIGN_OR_RETURN(const auto activations, activations_of<kKind>(call, extents));
  for (size_t index = 0; index < extents.directions; ++index) {
    const Direction direction(
        call, extents, kKind.gates, index,
        std::span(activations).subspan(index * kKind.activation_count, kKind.activation_count));
    MILLRACE_RETURN_IF_ERROR(run_direction<Cell>(call, extents, direction, index));
  }
  return {};
}

constexpr AttributeSpec kLstmAttributes[] = {
    {"activation_alpha", AttributeKind::kFloats}, {"activation_beta", AttributeKind::kFloats},
    {"activations", AttributeKind::kTexts},       {"clip", AttributeKind::kFloat},
    {"direction", AttributeKind::kText},          {"hidden_size", AttributeKind::kInteger},
    {"input_forget", AttributeKind::kInteger},    {"layout", AttributeKind::kInteger}};
constexpr AttributeSpec kGruAttributes[] = {
    {"activation_alpha", AttributeKind::kFloats}, {"activation_beta", AttributeKind::kFloats},
    {"activations", AttributeKind::kTexts},       {"clip", AttributeKind::kFloat},
    {"direction", AttributeKind::kText},          {"hidden_size", AttributeKind::kInteger},
    {"layout", AttributeKind::kInteger},          {"linear_before_reset", AttributeKind::kInteger}};
constexpr AttributeSpec kRnnAttributes[] = {
    {"activation_alpha", AttributeKind::kFloats}, {"activation_beta", AttributeKind::kFloats},
    {"activations", AttributeKind::kTexts},       {"clip", AttributeKind::kFloat},
    {"direction", AttributeKind::kText},          {"hidden_size", AttributeKind::kInteger},
    {"layout", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> recurrent_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"GRU",
       7,
       {3, 6},
       {1, 2},
       kFloats,
       shape_of_cell<kGru>,
       run_cells<GruCell, kGru>,
       kGruAttributes},
      {"LSTM",
       7,
       {3, 8},
       {1, 3},
       kFloats,
       shape_of_cell<kLstm>,
       run_cells<LstmCell, kLstm>,
       kLstmAttributes},
      {"RNN",
       7,
       {3, 6},
       {1, 2},
       kFloats,
       shape_of_cell<kRnn>,
       run_cells<RnnCell, kRnn>,
       kRnnAttributes},
      // DynamicQuantizeLSTM of com.microsoft; the compiler has already inserted the quantisation of
      // weights and input.
      {"millrace.RoundedLSTM",
       1,
       {3, 8},
       {1, 3},
       kFloats,
       shape_of_cell<kLstm>,
       run_cells<RoundedLstmCell, kLstm>,
       kLstmAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
