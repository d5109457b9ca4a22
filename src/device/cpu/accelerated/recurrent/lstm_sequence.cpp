#include "device/cpu/accelerated/recurrent/lstm_sequence.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/cpu/accelerated/dynamic_rule.h"
#include "device/cpu/accelerated/recurrent/lstm_loops.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/steps/parts.h"
#include "graph/work.h"

namespace millrace::device::cpu::accelerated {
namespace {

using graph::kNoValue;
using graph::ValueId;

constexpr size_t kX = 0, kWeights = 1, kRecurrence = 2, kBias = 3, kInitialH = 5, kInitialC = 6;
constexpr size_t kRow = kLstmGates * kLstmBlock;

struct Extents {
  size_t steps, input, hidden, directions;
  bool begins_at_end;  // the first direction
  bool rounds_state;   // to what bytes hold, before the products

  size_t units() const { return lstm_blocks(hidden) * kLstmBlock; }
  size_t sums() const { return units() * kLstmGates; }  // of a direction
};

Extents extents_of(const fallback::NodeView& view, bool rounds_state) {
  const auto x = view.in(kX).dims, recurrence = view.in(kRecurrence).dims;
  return {static_cast<size_t>(x[0]),
          static_cast<size_t>(x[2]),
          static_cast<size_t>(recurrence[2]),
          static_cast<size_t>(recurrence[0]),
          view.text("direction", "forward") == "reverse",
          rounds_state};
}

// Position of a unit's number of a gate among the sums of a direction.
size_t place_of(size_t gate, size_t unit) {
  return unit / kLstmBlock * kRow + gate * kLstmBlock + unit % kLstmBlock;
}

Desc floats(const Dims& dims) {
  return plain_desc(dims, ElementType::f32);
}

constexpr size_t kWorkRows = 4;

struct Buffers {
  BufferId sums, recurrence;
  std::array<std::optional<BufferId>, 2> initial;  // h and c
  BufferId work;  // for each direction: h, the next h, c, and h as it is multiplied
  BufferId y;
  std::array<std::optional<BufferId>, 2> last;
};

class LstmSequenceStep final : public Step {
 public:
  // The step runs in one part, or in one for each direction.
  LstmSequenceStep(const Extents& extents, const Buffers& buffers, uint32_t chunks)
      : extents_(extents),
        buffers_(buffers),
        parts_(static_cast<uint32_t>(std::min<size_t>(chunks, extents.directions))) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> all = {buffers_.sums, buffers_.recurrence, buffers_.work, buffers_.y};
    for (const auto* states : {&buffers_.initial, &buffers_.last})
      for (const auto& state : *states)
        if (state) all.push_back(*state);
    return all;
  }

  Status run(const RunState& state) const noexcept override {
    run_parts(state, parts_, [&, this](uint32_t number) {
      const Share share = share_of(extents_.directions, number, parts_);
      for (size_t i = 0; i < share.count; ++i) run_direction(state, share.first + i);
    });
    return {};
  }

 private:
  void run_direction(const RunState& state, size_t direction) const noexcept {
    const size_t steps = extents_.steps, hidden = extents_.hidden;
    const size_t units = extents_.units();
    float* h = state.output<float>(buffers_.work) + direction * kWorkRows * units;
    float* next = h + units;
    float* const c = next + units;
    float* const rounded = c + units;
    begin(state, 0, direction, h);
    begin(state, 1, direction, c);
    const bool backwards = direction == 1 || extents_.begins_at_end;
    for (size_t i = 0; i < steps; ++i) {
      const size_t row = (backwards ? steps - 1 - i : i) * extents_.directions + direction;
      if (extents_.rounds_state) round_dynamically({h, hidden}, rounded);
      run_lstm_step({hidden, state.input<float>(buffers_.sums) + row * extents_.sums(),
                     state.input<float>(buffers_.recurrence) + direction * hidden * extents_.sums(),
                     extents_.rounds_state ? rounded : h, next, c});
      std::swap(h, next);
      std::copy_n(h, hidden, state.output<float>(buffers_.y) + row * hidden);
    }
    end(state, 0, direction, h);
    end(state, 1, direction, c);
  }

  void begin(const RunState& state, size_t which, size_t direction, float* to) const noexcept {
    std::fill_n(to, extents_.units(), 0.0F);
    if (const auto& from = buffers_.initial[which])
      std::copy_n(state.input<float>(*from) + direction * extents_.hidden, extents_.hidden, to);
  }

  void end(const RunState& state, size_t which, size_t direction,
           const float* from) const noexcept {
    if (const auto& to = buffers_.last[which])
      std::copy_n(from, extents_.hidden, state.output<float>(*to) + direction * extents_.hidden);
  }

  const Extents extents_;
  const Buffers buffers_;
  const uint32_t parts_;
};

// True if the loops suit the dims of x and of the recurrence weights.
bool suits_loops(std::span<const int64_t> x, std::span<const int64_t> recurrence) {
  return x[1] == 1 && recurrence[2] >= static_cast<int64_t>(kLstmBlock);
}

class Lowerer {
 public:
  Lowerer(Builder& builder, const AcceleratedNode& node, bool rounds_state)
      : builder_(builder), node_(node), extents_(extents_of(node.view, rounds_state)) {}

  Result<bool> lower() {
    Buffers buffers;
    MILLRACE_ASSIGN_OR_RETURN(buffers.sums, add_sums_of_inputs());
    for (size_t i = 0; i < 2; ++i) {
      const ValueId id = node_.input(i == 0 ? kInitialH : kInitialC);
      if (id == kNoValue) continue;
      MILLRACE_ASSIGN_OR_RETURN(const Operand state, plain_operand(builder_, id));
      buffers.initial[i] = state.buffer;
    }
    buffers.recurrence = recurrence();
    const size_t rows = extents_.directions * kWorkRows;
    buffers.work = builder_
                       .new_temporary(floats(
                           {static_cast<int64_t>(rows), static_cast<int64_t>(extents_.units())}))
                       .buffer;
    std::vector<Operand> results;
    for (const ValueId id : node_.node.outputs) results.push_back(plain_result(builder_, id));
    buffers.y = results[0].buffer;
    for (size_t i = 1; i < results.size(); ++i) buffers.last[i - 1] = results[i].buffer;
    builder_.add(name_of(node_.node.op), "millrace:lstm",
                 std::make_unique<LstmSequenceStep>(extents_, buffers, builder_.chunks()));
    for (size_t i = 0; i < results.size(); ++i)
      finish_result(builder_, node_.node.outputs[i], results[i]);
    return true;
  }

 private:
  // The products of all inputs, which do not wait for each other, and the biases.
  Result<BufferId> add_sums_of_inputs() {
    const auto steps = static_cast<int64_t>(extents_.steps);
    const auto input = static_cast<int64_t>(extents_.input);
    const auto sums = static_cast<int64_t>(extents_.directions * extents_.sums());
    const Desc x = floats({steps, input}), y = floats({steps, sums});
    const auto primitive = make_primitive<dnnl::inner_product_forward>(
        builder_.engine(), kernels::make_attributes(), dnnl::prop_kind::forward_inference, x,
        any_desc({sums, input}, ElementType::f32), floats({sums}), y);
    MILLRACE_ASSIGN_OR_RETURN(const Operand inputs, plain_operand(builder_, node_.input(kX)));
    const Operand result = builder_.new_temporary(y);
    builder_.add_primitive(
        name_of(node_.node.op), primitive, dnnl::inner_product_forward(primitive),
        {{DNNL_ARG_SRC, {inputs.buffer, x}},
         {DNNL_ARG_WEIGHTS, builder_.add_constant(input_weights().data(), floats({sums, input}),
                                                  primitive.weights_desc())},
         {DNNL_ARG_BIAS, builder_.add_constant(floats({sums}), biases())},
         {DNNL_ARG_DST, result}});
    return result.buffer;
  }

  // Calls visit(row of the standard's [directions, gates * hidden], its place among the sums).
  template <class Visit>
  void for_each_row(Visit&& visit) const {
    for (size_t direction = 0; direction < extents_.directions; ++direction)
      for (size_t gate = 0; gate < kLstmGates; ++gate)
        for (size_t unit = 0; unit < extents_.hidden; ++unit)
          visit((direction * kLstmGates + gate) * extents_.hidden + unit,
                direction * extents_.sums() + place_of(gate, unit));
  }

  // Permutes [directions, gates * hidden, input] to [sums, input].
  std::vector<float> input_weights() const {
    const std::vector<float> from = builder_.constant_floats(node_.input(kWeights));
    std::vector<float> to(extents_.directions * extents_.sums() * extents_.input, 0);
    for_each_row([&](size_t row, size_t place) {
      std::copy_n(&from[row * extents_.input], extents_.input, &to[place * extents_.input]);
    });
    return to;
  }

  // Adds up [directions, 2 * gates * hidden] to [sums].
  std::vector<float> biases() const {
    std::vector<float> to(extents_.directions * extents_.sums(), 0);
    if (node_.input(kBias) == kNoValue) return to;
    const std::vector<float> from = builder_.constant_floats(node_.input(kBias));
    const size_t rows = kLstmGates * extents_.hidden;
    for_each_row([&](size_t row, size_t place) {
      const size_t first = row / rows * 2 * rows + row % rows;
      to[place] = from[first] + from[first + rows];
    });
    return to;
  }

  // Permutes [directions, gates * hidden, hidden] to [directions, blocks, hidden, gates, units].
  BufferId recurrence() {
    const std::vector<float> from = builder_.constant_floats(node_.input(kRecurrence));
    const size_t hidden = extents_.hidden;
    std::vector<float> to(extents_.directions * extents_.sums() * hidden, 0);
    for_each_row([&](size_t row, size_t place) {
      for (size_t k = 0; k < hidden; ++k)
        to[(place / kRow * hidden + k) * kRow + place % kRow] = from[row * hidden + k];
    });
    return builder_.add_constant(floats({static_cast<int64_t>(to.size())}), to).buffer;
  }

  Builder& builder_;
  const AcceleratedNode& node_;
  const Extents extents_;
};

}  // namespace

bool is_lstm_sequence(const AcceleratedNode& node) {
  return suits_loops(node.view.in(kX).dims, node.view.in(kRecurrence).dims);
}

bool has_two_directions(const graph::Graph& graph, const graph::Node& node) {
  if (!graph::is_lstm(node.op)) return false;
  const ValueId x = node.input(kX), recurrence = node.input(kRecurrence);
  if (x == kNoValue || recurrence == kNoValue) return false;
  const Dims &steps = graph.values[x].shape, &state = graph.values[recurrence].shape;
  return steps.size() == 3 && state.size() == 3 && suits_loops(steps, state) && state[0] == 2;
}

Result<bool> lower_lstm_sequence(Builder& builder, const AcceleratedNode& node, bool rounds_state) {
  return Lowerer(builder, node, rounds_state).lower();
}

}  // namespace millrace::device::cpu::accelerated
