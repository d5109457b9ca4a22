#include "fallback/common_shapes.h"

#include <fmt/format.h>

namespace millrace::fallback {

Status same_as_first(Inference& node) {
  node.set(0, node.in(0).type, to_dims(node.in(0).dims));
  return {};
}

Status check_one_type(const Inference& node, size_t first) {
  for (size_t i = first + 1; i < node.input_count(); ++i) {
    if (!node.has(i) || node.in(i).type == node.in(first).type) continue;
    return invalid_argument(fmt::format("inputs {} and {} differ in type: {} and {}", first, i,
                                        tensor::to_string(node.in(first).type),
                                        tensor::to_string(node.in(i).type)));
  }
  return {};
}

Result<Dims> broadcast_dims(const Inference& node) {
  Dims dims = to_dims(node.in(0).dims);
  for (size_t i = 1; i < node.input_count(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(dims, graph::broadcast(dims, to_dims(node.in(i).dims)));
  }
  return dims;
}

Status broadcast_of_all(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(Dims dims, broadcast_dims(node));
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

Status booleans_of_broadcast(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(Dims dims, broadcast_dims(node));
  node.set(0, DataType::kBoolean, std::move(dims));
  return {};
}

Result<DataType> type_of_number(int64_t number) {
  switch (number) {
    case 1:
    case 10:  // FP16 and BF16 are computed in FLOAT32
    case 16:
      return DataType::kFloat32;
    case 2:
      return DataType::kUint8;
    case 3:
      return DataType::kInt8;
    case 4:
      return DataType::kUint16;
    case 5:
      return DataType::kInt16;
    case 6:
      return DataType::kInt32;
    case 7:
      return DataType::kInt64;
    case 9:
      return DataType::kBoolean;
    case 11:
      return DataType::kFloat64;
    case 12:
      return DataType::kUint32;
    case 13:
      return DataType::kUint64;
    default:
      return unsupported(fmt::format("ONNX element type {} is not supported", number));
  }
}

}  // namespace millrace::fallback
