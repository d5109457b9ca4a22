// How the samples spell tensors in file names and on the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vart/vart_npu_tensor.hpp"

namespace samples {

// The programs' file names differ in how they call the floating types.
enum class FloatNames {
  kShort,  // fp32, bf16, fp16
  kMixed,  // float32, bf16, fp16
  kLong    // float32, bfloat16, float16
};

// "int8", "bool", ...; "unknown" for a value outside the list.
std::string dtype_name(vart::DataType type, FloatNames float_names);

// "1x3x224x224".
std::string shape_text(const std::vector<uint32_t>& shape);

// A tensor's name as part of a file name: '/' becomes '-', and a leading one is dropped.
std::string file_name_part(std::string tensor_name);

}  // namespace samples
