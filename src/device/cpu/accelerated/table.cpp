#include <algorithm>
#include <iterator>

#include "device/cpu/accelerated/accelerated.h"

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
    {"RNN", lower_rnn},
    {"com.microsoft.Gelu", lower_gelu},
    {"com.microsoft.QuickGelu", lower_quick_gelu},
    {"millrace.Attention", lower_attention},
    {"millrace.ConvIntegerToFloat", lower_integer_product},
    {"millrace.MatMulIntegerToFloat", lower_integer_product},
    {"millrace.RoundedLSTM", lower_rounded_lstm},
};

}  // namespace

Lowering find_lowering(std::string_view name) noexcept {
  const auto row = std::ranges::find(kRows, name, &Row::name);
  return row == std::end(kRows) ? nullptr : row->lower;
}

}  // namespace millrace::device::cpu::accelerated
