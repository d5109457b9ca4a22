// Handler of CausalConvWithState of com.microsoft: a depthwise convolution over time, of which each
// output reads the current and earlier inputs only. The inputs before the first one are a state,
// which the node returns for the next call. It becomes Concat, Conv and Slice.
#include <fmt/format.h>

#include "lowering/operators/handlers.h"
#include "lowering/operators/microsoft/heads.h"
#include "lowering/operators/quantised/channels_last.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::UnaryKind;

constexpr size_t kSignal = 0, kFilter = 1, kFilterBias = 2, kPastSignal = 3;

Status check_form(NodeImport& node) {
  const std::string activation = node.string_attribute("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return invalid_argument(
        fmt::format("activation is '{}'; expected none, silu or swish", activation));
  if (node.int_attribute("ndim", 1) != 1)
    return unsupported("only one spatial dimension is supported (ndim)");
  if (node.int_attribute("state_window", 0) != 0) return unsupported("state_window is set");
  constexpr int64_t kMostDilation = int64_t{1} << 31;
  const int64_t dilation = node.int_attribute("dilation", 1);
  if (dilation < 1 || dilation > kMostDilation)
    return invalid_argument("dilation must be at least 1 and at most 2^31");
  return {};
}

// Returns [batch, channels, length] for an input or a state. Channels-last it is [batch, length,
// channels...], with any number of dimensions of channels.
Result<ValueId> signal_of(NodeImport& node, size_t index) {
  const Dims shape = node.shape(index);
  const bool channels_last = has_channels_last(node);
  if (shape.size() < 3 || (!channels_last && shape.size() > 3))
    return invalid_argument(
        fmt::format("its operand {} must be [batch, channels, length]", graph::to_string(shape)));
  if (!channels_last) return node.operand(index);
  int64_t channels = 1;
  for (size_t d = 2; d < shape.size(); ++d) channels *= shape[d];
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x,
                            node.reshape(node.operand(index), {shape[0], shape[1], channels}));
  return channels_to_front(node, x);
}

// Turns [batch, channels, length] back to the form of the input.
Result<ValueId> in_form_of_input(NodeImport& node, ValueId x) {
  if (!has_channels_last(node)) return x;
  Dims shape = node.shape(kSignal);
  shape[1] = shape_of(node, x)[2];
  MILLRACE_ASSIGN_OR_RETURN(x, channels_to_back(node, x));
  return node.reshape(x, std::move(shape));
}

// Returns how many inputs before the current one an output reads; `x` is [batch, channels, length].
Result<int64_t> reach_of(NodeImport& node, const Dims& x) {
  const Dims& filter = node.shape(kFilter);
  const bool fits = filter.size() == 3 && filter[0] == x[1] && filter[1] == 1 && filter[2] >= 1 &&
                    (!node.has(kFilterBias) || node.shape(kFilterBias) == Dims{x[1]});
  if (fits) return (filter[2] - 1) * node.int_attribute("dilation", 1);
  return invalid_argument(
      fmt::format("its weight {} must be [channels, 1, taps], and its bias [channels], for an "
                  "input of {} channels",
                  graph::to_string(filter), x[1]));
}

// Returns the state, or zeros, followed by the input.
Result<ValueId> with_past(NodeImport& node, ValueId x, int64_t reach) {
  if (!node.has(kPastSignal)) {
    if (reach == 0) return x;
    return node.emit(graph::Pad{graph::PadMode::kConstant, {0, 0, reach}, {0, 0, 0}, 0}, {x});
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId state, signal_of(node, kPastSignal));
  Dims wanted = shape_of(node, x);
  wanted[2] = reach;
  if (shape_of(node, state) == wanted) return append_to_past(node, state, x);
  return invalid_argument(fmt::format("its past state must be [batch, channels, length] {}, not {}",
                                      graph::to_string(wanted),
                                      graph::to_string(shape_of(node, state))));
}

Result<ValueId> convolved_over_time(NodeImport& node, ValueId x) {
  const int64_t channels = shape_of(node, x)[1], dilation = node.int_attribute("dilation", 1);
  const std::vector<ValueId> operands = {x, node.operand(kFilter), node.operand(kFilterBias)};
  if (!node.builder().as_written())
    return node.emit(graph::Conv{{1}, {dilation}, {0}, {0}, channels, {}}, operands);
  MILLRACE_ASSIGN_OR_RETURN(
      const auto y,
      node.emit_fallback({"Conv", {{"dilations", Dims{dilation}}, {"group", channels}}}, operands,
                         1));
  return y[0];
}

}  // namespace

// Inputs: x; weight; bias; past state. Outputs: the result; the last inputs, as the next past
// state.
Result<ValueId> import_causal_conv(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(check_form(node));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x, signal_of(node, kSignal));
  const int64_t length = shape_of(node, x)[2];
  MILLRACE_ASSIGN_OR_RETURN(const int64_t reach, reach_of(node, shape_of(node, x)));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId all, with_past(node, x, reach));
  if (node.output_count() > 1) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId last, part_of(node, all, 2, length, reach));
    MILLRACE_ASSIGN_OR_RETURN(const ValueId state, in_form_of_input(node, last));
    node.set_output(1, state);
  }
  MILLRACE_ASSIGN_OR_RETURN(ValueId y, convolved_over_time(node, all));
  if (node.string_attribute("activation", "none") != "none") {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId gate, node.unary(UnaryKind::kSigmoid, y));
    MILLRACE_ASSIGN_OR_RETURN(y, node.binary(BinaryKind::kMul, y, gate));
  }
  return in_form_of_input(node, y);
}

}  // namespace millrace::lowering
