#include <algorithm>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/capabilities/capabilities.h"
#include "device/cpu/capabilities/fast_fallbacks.h"

namespace millrace::device::cpu::accelerated {
namespace {

struct Row {
  std::string_view name;
  Lowering lower;
};

constexpr Row kRows[] = {
    {"ConvInteger", lower_integer_product},
    {"ConvTranspose", lower_conv_transpose},
    {"DequantizeLinear", lower_dequantize},
    {"DynamicQuantizeLinear", lower_dynamic_quantize},
    {"GRU", lower_gru},
    {"Gelu", lower_gelu},
    {"GroupNormalization", lower_group_norm},
    {"InstanceNormalization", lower_instance_norm},
    {"LSTM", lower_lstm},
    {"LayerNormalization", lower_layer_norm},
    {"MatMulInteger", lower_integer_product},
    {"QuantizeLinear", lower_quantize},
    {"RMSNormalization", lower_rms_norm},
    {"RNN", lower_rnn},
    {"SimplifiedLayerNormalization", lower_rms_norm},
    {"com.microsoft.Gelu", lower_gelu},
    {"com.microsoft.MatMulNBits", lower_blocked_product},
    {"com.microsoft.QuickGelu", lower_quick_gelu},
    {"millrace.Attention", lower_attention},
    {"millrace.CachedAttention", lower_cached_attention},
    {"millrace.ConvIntegerToFloat", lower_integer_product},
    {"millrace.MatMulIntegerToFloat", lower_integer_product},
    {"millrace.RoundedLSTM", lower_rounded_lstm},
};
static_assert(std::ranges::equal(kRows, kFastFallbacks, {}, &Row::name, &graph::FastFallback::name),
              "the device states the same operators, in the same order");

}  // namespace

Lowering find_lowering(const graph::Graph& graph, const graph::Node& node) noexcept {
  const auto* op = std::get_if<graph::Fallback>(&node.op);
  if (op == nullptr || !capabilities().runs_on_npu(graph, node)) return nullptr;
  return std::ranges::find(kRows, op->name, &Row::name)->lower;
}

}  // namespace millrace::device::cpu::accelerated
