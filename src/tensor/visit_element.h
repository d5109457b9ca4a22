// Dispatches from the element type of a tensor to the C++ type of its elements.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::tensor {

// Calls visit(T{}) with the C++ type that holds elements of `type` and returns what it returns, a
// Status; kUnsupported for the 16-bit floating types, which have none. A BOOLEAN is a uint8_t that
// is 0 or not.
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
      return unsupported("elements of type " + std::string(to_string(type)) +
                         " are not computed with");
  }
}

}  // namespace millrace::tensor
