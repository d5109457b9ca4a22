// The Fallbacks for which the CPU device has fast kernels, with the types of the first operand.
// accelerated/table.cpp has the lowering of each, in the same order.
#pragma once

#include "graph/capabilities.h"

namespace millrace::device::cpu {

inline constexpr graph::TypeSet kFloat32 = {tensor::DataType::kFloat32};
inline constexpr graph::TypeSet kBytes = {tensor::DataType::kInt8, tensor::DataType::kUint8};
inline constexpr graph::TypeSet kWords = {tensor::DataType::kInt16, tensor::DataType::kUint16};

inline constexpr graph::FastFallback kFastFallbacks[] = {
    {"ConvInteger", kBytes},
    {"ConvTranspose", kFloat32},
    {"DequantizeLinear", kBytes | kWords},
    {"DynamicQuantizeLinear", kFloat32},
    {"GRU", kFloat32},
    {"Gelu", kFloat32},
    {"GroupNormalization", kFloat32},
    {"InstanceNormalization", kFloat32},
    {"LSTM", kFloat32},
    {"LayerNormalization", kFloat32},
    {"MatMulInteger", kBytes},
    {"QuantizeLinear", kFloat32},
    {"RNN", kFloat32},
    {"com.microsoft.Gelu", kFloat32},
    {"com.microsoft.QuickGelu", kFloat32},
    {"millrace.Attention", kFloat32},
    {"millrace.ConvIntegerToFloat", kBytes},
    {"millrace.MatMulIntegerToFloat", kBytes},
    {"millrace.RoundedLSTM", kFloat32},
};

}  // namespace millrace::device::cpu
