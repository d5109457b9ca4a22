// Operators that run by the kernels of src/fallback, over plain memory.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "base/contained.h"
#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/ranks/collective.h"
#include "fallback/evaluate.h"
#include "fallback/operator_table.h"
#include "graph/collective.h"

namespace millrace::device::cpu::accelerated {
namespace {

using fallback::OutputView;
using fallback::TensorView;

// An operand or output: UNKNOWN stands for an operand that is absent.
struct Slot {
  BufferId buffer = 0;
  tensor::DataType type = tensor::DataType::kUnknown;
  Dims dims;
};

// The operands or outputs of a run. A few, as most operators have, take no memory of their own:
// small operators took less time than that.
template <class View>
class ViewList {
 public:
  explicit ViewList(size_t count)
      : many_(count > kFew ? count : 0),
        views_(count > kFew ? std::span<View>(many_) : std::span<View>(few_).first(count)) {}
  ViewList(const ViewList&) = delete;
  ViewList& operator=(const ViewList&) = delete;

  View& operator[](size_t index) noexcept { return views_[index]; }
  std::span<const View> views() const noexcept { return views_; }

 private:
  static constexpr size_t kFew = 8;

  std::array<View, kFew> few_{};
  std::vector<View> many_;
  const std::span<View> views_;
};

// Requirement: there is such an operator.
class FallbackStep final : public Step {
 public:
  FallbackStep(graph::Fallback op, std::shared_ptr<const void> prepared, std::vector<Slot> inputs,
               std::vector<Slot> outputs)
      : op_(std::move(op)),
        spec_(*fallback::find_operator(op_.name)),
        prepared_(std::move(prepared)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids;
    for (const Slot& slot : inputs_)
      if (slot.type != tensor::DataType::kUnknown) ids.push_back(slot.buffer);
    for (const Slot& slot : outputs_) ids.push_back(slot.buffer);
    return ids;
  }

  // May allocate, and fail for want of memory, as collectives may and no other step: see
  // docs/devices.md.
  Status run(const RunState& state) const noexcept override {
    return contained([&] {
      ViewList<TensorView> inputs(inputs_.size());
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const Slot& slot = inputs_[i];
        if (slot.type != tensor::DataType::kUnknown)
          inputs[i] = {slot.type, slot.dims, state.buffers[slot.buffer]};
      }
      ViewList<OutputView> outputs(outputs_.size());
      for (size_t i = 0; i < outputs_.size(); ++i)
        outputs[i] = {outputs_[i].type, outputs_[i].dims, state.buffers[outputs_[i].buffer]};
      return fallback::run(spec_, op_, inputs.views(), outputs.views(), prepared_.get());
    });
  }

 private:
  graph::Fallback op_;
  const fallback::OperatorSpec& spec_;
  std::shared_ptr<const void> prepared_;
  std::vector<Slot> inputs_, outputs_;
};

// Archives from elsewhere: what the compiler made fits.
Status check_outputs(const Builder& builder, const graph::Node& node, const graph::Fallback& op,
                     std::span<const TensorView> inputs) {
  MILLRACE_ASSIGN_OR_RETURN(const auto types,
                            fallback::infer_outputs(op, inputs, node.outputs.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    const graph::Value& value = builder.value(node.outputs[i]);
    if (types[i] == graph::ValueType{value.type, value.shape}) continue;
    return invalid_argument(
        fmt::format("output '{}' has not the type and shape that {} gives", value.name, op.name));
  }
  return {};
}

Status lower_plain(Builder& builder, const graph::Node& node, const graph::Fallback& op) {
  MILLRACE_ASSIGN_OR_RETURN(auto prepared, fallback::prepare(op));
  std::vector<Slot> inputs, outputs;
  for (const graph::ValueId id : node.inputs) {
    inputs.emplace_back();
    if (id == graph::kNoValue) continue;
    MILLRACE_ASSIGN_OR_RETURN(const Operand operand, plain_operand(builder, id));
    inputs.back() = {operand.buffer, builder.value(id).type, builder.value(id).shape};
  }
  std::vector<Operand> results;
  for (const graph::ValueId id : node.outputs) {
    results.push_back(plain_result(builder, id));
    outputs.push_back({results.back().buffer, builder.value(id).type, builder.value(id).shape});
  }
  builder.add(op.name, "millrace:fallback",
              std::make_unique<FallbackStep>(op, std::move(prepared), std::move(inputs),
                                             std::move(outputs)));
  for (size_t i = 0; i < results.size(); ++i) finish_result(builder, node.outputs[i], results[i]);
  return {};
}

}  // namespace

Status lower_fallback(Builder& builder, const graph::Node& node, const graph::Fallback& op) {
  const std::vector<TensorView> inputs = operand_views(builder, node);
  MILLRACE_RETURN_IF_ERROR(check_outputs(builder, node, op, inputs));
  if (graph::is_collective(node.op)) {
    MILLRACE_ASSIGN_OR_RETURN(const bool lowered, lower_collective(builder, node, op));
    return lowered ? Status() : lower_plain(builder, node, op);
  }
  if (const Lowering lowering = find_lowering(builder.model().graph, node)) {
    MILLRACE_ASSIGN_OR_RETURN(const bool lowered,
                              lowering(builder, {node, fallback::NodeView(op, inputs)}));
    if (lowered) return {};
  }
  return lower_plain(builder, node, op);
}

}  // namespace millrace::device::cpu::accelerated
