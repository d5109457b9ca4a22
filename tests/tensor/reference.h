// An independent implementation of the conversion rules: slow, element by element, in double and
// long double arithmetic, derived from the names of the layouts. Shares no code with src/tensor but
// the declarations of the types.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/desc.h"

namespace millrace::tensor::reference {

using Bytes = std::vector<uint8_t>;

// Nearest (ties to even) or toward zero, found by comparing distances in double.
uint16_t to_bf16(double value, bool toward_zero = false);
uint16_t to_fp16(double value, bool toward_zero = false);
float from_bf16(uint16_t bits);
float from_fp16(uint16_t bits);

// Reads one element of `from` at `source` and writes it as `to`.
void convert_element(DataType from, const uint8_t* source, DataType to, uint8_t* target,
                     const QuantParams& quant);

// The index of the element with these coordinates (N, C, H, W; or the dimensions of the CPU view
// in order for other ranks) in the HW view.
size_t hw_index(const TensorDesc& hw, const std::vector<size_t>& dims,
                const std::vector<size_t>& coordinates);

Bytes to_hw(const TensorDesc& cpu, const TensorDesc& hw, const QuantParams& quant,
            const Bytes& values);
Bytes to_cpu(const TensorDesc& cpu, const TensorDesc& hw, const QuantParams& quant,
             const Bytes& values);

}  // namespace millrace::tensor::reference
