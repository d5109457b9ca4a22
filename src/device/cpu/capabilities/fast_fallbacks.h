// The Fallbacks for which the CPU device has fast kernels, with the types of the first operand.
// accelerated/table.cpp has the lowering of each, in the same order.
#pragma once

#include "graph/capabilities.h"

namespace millrace::device::cpu {

inline constexpr graph::TypeSet kFloat32Types = {tensor::DataType::kFloat32};
inline constexpr graph::TypeSet kByteTypes = {tensor::DataType::kInt8, tensor::DataType::kUint8};
inline constexpr graph::TypeSet kWordTypes = {tensor::DataType::kInt16, tensor::DataType::kUint16};

inline constexpr graph::FastFallback kFastFallbacks[] = {
    {"ConvInteger", kByteTypes},
    {"ConvTranspose", kFloat32Types},
    {"DequantizeLinear", kByteTypes | kWordTypes},
    {"DynamicQuantizeLinear", kFloat32Types},
    {"GRU", kFloat32Types},
    {"Gelu", kFloat32Types},
    {"GroupNormalization", kFloat32Types},
    {"InstanceNormalization", kFloat32Types},
    {"LSTM", kFloat32Types},
    {"LayerNormalization", kFloat32Types},
    {"MatMulInteger", kByteTypes},
    {"QuantizeLinear", kFloat32Types},
    {"RMSNormalization", kFloat32Types},
    {"RNN", kFloat32Types},
    {"SimplifiedLayerNormalization", kFloat32Types},
    {"com.microsoft.Gelu", kFloat32Types},
    {"com.microsoft.MatMulNBits", kFloat32Types},
    {"com.microsoft.QuickGelu", kFloat32Types},
    {"millrace.Attention", kFloat32Types},
    {"millrace.CachedAttention", kFloat32Types},
    {"millrace.ConvIntegerToFloat", kByteTypes},
    {"millrace.MatMulIntegerToFloat", kByteTypes},
    {"millrace.RoundedLSTM", kFloat32Types},
};

}  // namespace millrace::device::cpu
