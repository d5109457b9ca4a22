// Element types of fallback kernels: sets of types that operator families support, and dispatch
// from a type to C++ types.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "fallback/node_view.h"
#include "graph/reference/functions.h"
#include "graph/type_set.h"
#include "tensor/visit_element.h"

namespace millrace::fallback {

namespace reference = graph::reference;
using graph::TypeSet;
using tensor::DataType;
using tensor::visit_element;

// FP16 and BF16 are in no set: fallback operators get such values as FLOAT32. kFloats is for
// kernels that support float only.
inline constexpr TypeSet kFloats = {DataType::kFloat32};
// The types of visit_floating(), for kernels that support all of them.
inline constexpr TypeSet kReals = {DataType::kFloat32, DataType::kFloat64};
inline constexpr TypeSet kSigned = {DataType::kInt8, DataType::kInt16, DataType::kInt32,
                                    DataType::kInt64};
inline constexpr TypeSet kUnsigned = {DataType::kUint8, DataType::kUint16, DataType::kUint32,
                                      DataType::kUint64};
inline constexpr TypeSet kBooleans = {DataType::kBoolean};
inline constexpr TypeSet kIntegers = kSigned | kUnsigned;
inline constexpr TypeSet kNumbers = kIntegers | kReals;
inline constexpr TypeSet kAll = kNumbers | kBooleans;
inline constexpr TypeSet kBytes = {DataType::kInt8, DataType::kUint8};
inline constexpr TypeSet kIndexTypes = {DataType::kInt32, DataType::kInt64};

// Returns an element of a tensor whose type is in kIndexTypes.
inline int64_t index_at(const TensorView& indices, size_t position) {
  return indices.type == DataType::kInt64 ? indices.as<int64_t>()[position]
                                          : indices.as<int32_t>()[position];
}

// Returns the element of a parameter for `position`: a parameter has one element for all positions,
// or one for each; an absent one is 0.
template <class T>
T parameter_at(const NodeView& node, size_t index, size_t position) {
  if (!node.has(index)) return T{0};
  const auto elements = node.in(index).as<T>();
  return elements[elements.size() == 1 ? 0 : position];
}

// tensor::visit_element() for floating-point types or integer types only.
template <class Visit>
Status visit_floating(DataType type, Visit&& visit) {
  if (type == DataType::kFloat32) return visit(float{});
  if (type == DataType::kFloat64) return visit(double{});
  return internal_error("a floating-point kernel was called for elements of another type");
}
template <class Visit>
Status visit_integer(DataType type, Visit&& visit) {
  return visit_element(type, [&](auto zero) -> Status {
    if constexpr (std::is_integral_v<decltype(zero)>) return visit(zero);
    return internal_error("an integer kernel was called for elements of another type");
  });
}

// Returns the elements of a floating-point tensor. Requirement: they are known.
inline std::vector<double> reals_of(const TensorView& operand) {
  std::vector<double> elements;
  static_cast<void>(visit_floating(operand.type, [&](auto zero) -> Status {
    for (const auto element : operand.as<decltype(zero)>()) elements.push_back(element);
    return {};
  }));
  return elements;
}

// Calls visit(A{}, B{}) for two types of kBytes.
template <class Visit>
Status visit_bytes(DataType a, DataType b, Visit&& visit) {
  const auto with_a = [&](auto left) -> Status {
    return b == DataType::kInt8 ? visit(left, int8_t{}) : visit(left, uint8_t{});
  };
  return a == DataType::kInt8 ? with_a(int8_t{}) : with_a(uint8_t{});
}

// Calls visit with an unsigned integer of the size of an element, for kernels that only move
// elements.
template <class Visit>
Status visit_storage(DataType type, Visit&& visit) {
  switch (tensor::size_of(type)) {
    case 1:
      return visit(uint8_t{});
    case 2:
      return visit(uint16_t{});
    case 4:
      return visit(uint32_t{});
    case 8:
      return visit(uint64_t{});
    default:
      return internal_error("elements have no known size");
  }
}

}  // namespace millrace::fallback
