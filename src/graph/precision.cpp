#include "graph/precision.h"

namespace millrace::graph {

const char* name_of(Precision precision) noexcept {
  switch (precision) {
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp16:
      return "fp16";
    case Precision::kFp32:
      break;
  }
  return "fp32";
}

tensor::DataType storage_type(Precision precision) noexcept {
  switch (precision) {
    case Precision::kBf16:
      return tensor::DataType::kBf16;
    case Precision::kFp16:
      return tensor::DataType::kFp16;
    case Precision::kFp32:
      break;
  }
  return tensor::DataType::kFloat32;
}

}  // namespace millrace::graph
