#include "common/text.hpp"

#include <algorithm>

namespace samples {

std::string dtype_name(vart::DataType type, FloatNames float_names) {
  switch (type) {
    case vart::DataType::BOOLEAN:
      return "bool";
    case vart::DataType::INT8:
      return "int8";
    case vart::DataType::UINT8:
      return "uint8";
    case vart::DataType::INT16:
      return "int16";
    case vart::DataType::UINT16:
      return "uint16";
    case vart::DataType::INT32:
      return "int32";
    case vart::DataType::UINT32:
      return "uint32";
    case vart::DataType::INT64:
      return "int64";
    case vart::DataType::UINT64:
      return "uint64";
    case vart::DataType::BF16:
      return float_names == FloatNames::kLong ? "bfloat16" : "bf16";
    case vart::DataType::FP16:
      return float_names == FloatNames::kLong ? "float16" : "fp16";
    case vart::DataType::FLOAT32:
      return float_names == FloatNames::kShort ? "fp32" : "float32";
    default:
      return "unknown";
  }
}

std::string shape_text(const std::vector<uint32_t>& shape) {
  std::string text;
  for (const uint32_t dim : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text;
}

std::string file_name_part(std::string tensor_name) {
  std::replace(tensor_name.begin(), tensor_name.end(), '/', '-');
  if (!tensor_name.empty() && tensor_name.front() == '-') tensor_name.erase(0, 1);
  return tensor_name;
}

}  // namespace samples
