// Dispatches from the element type of a tensor to the C++ type of its elements.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::tensor {

// Calls visit(T{}), where T is the C++ type that holds an element of `type`, and returns its
// Status. kUnsupported for FP16, BF16 and UNKNOWN, which have no arithmetic type in C++. An element
// of BOOLEAN is a uint8_t; every value but 0 is true.
template <class Visit>
Status visit_element(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::kFloat32:
      return visit(float{});
    case DataType::kFloat64:
      return visit(double{});
    case DataType::kInt64:
      return visit(int64_t{});
    case DataType::kInt32:
      return visit(int32_t{});
    case DataType::kInt16:
      return visit(int16_t{});
    case DataType::kInt8:
      return visit(int8_t{});
    case DataType::kUint64:
      return visit(uint64_t{});
    case DataType::kUint32:
      return visit(uint32_t{});
    case DataType::kUint16:
      return visit(uint16_t{});
    case DataType::kUint8:
    case DataType::kBoolean:
      return visit(uint8_t{});
    default:
      return unsupported("computing with elements of type " + std::string(to_string(type)) +
                         " is not supported");
  }
}

}  // namespace millrace::tensor
