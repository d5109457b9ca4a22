// The C++ types of elements, and sets of element types that several families take.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "fallback/node_view.h"
#include "graph/capability.h"
#include "tensor/visit_element.h"

namespace millrace::fallback {

using graph::TypeSet;
using tensor::DataType;
using tensor::visit_element;

// A graph keeps values of the 16-bit floating types as FLOAT32 wherever it computes with them, so
// no kernel takes those. kFloats is for kernels that are written for float alone.
inline constexpr TypeSet kFloats = {DataType::kFloat32};
// The types of visit_floating(), for kernels that are written for all of them.
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

// An element of a tensor of one of kIndexTypes.
inline int64_t index_at(const TensorView& indices, size_t position) {
  return indices.type == DataType::kInt64 ? indices.as<int64_t>()[position]
                                          : indices.as<int32_t>()[position];
}

// The element of a parameter that belongs to `position`: a parameter has one element for all, or
// one for each position; an absent one is 0.
template <class T>
T parameter_at(const NodeView& node, size_t index, size_t position) {
  if (!node.has(index)) return T{0};
  const auto elements = node.in(index).as<T>();
  return elements[elements.size() == 1 ? 0 : position];
}

// tensor::visit_element for floating point and for integer types alone.
template <class Visit>
Status visit_floating(DataType type, Visit&& visit) {
  if (type == DataType::kFloat32) return visit(float{});
  if (type == DataType::kFloat64) return visit(double{});
  return internal_error("a floating point kernel for elements of another type");
}
template <class Visit>
Status visit_integer(DataType type, Visit&& visit) {
  return visit_element(type, [&](auto zero) -> Status {
    if constexpr (std::is_integral_v<decltype(zero)>) return visit(zero);
    return internal_error("an integer kernel for elements of another type");
  });
}

// The elements of a floating point tensor, which are known.
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

// Elements by size, for kernels that only move them: calls visit with an unsigned integer.
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
      return internal_error("elements of no known size");
  }
}

// As an element of T: integers are cut off, and the limit where it lies outside; NaN gives 0.
template <class T>
T nearest(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    // As a double the largest 64-bit number is the next one, which is too large.
    constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
    if (std::isnan(value)) return 0;
    if (value <= kLow) return std::numeric_limits<T>::min();
    return value >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(value);
  }
}

// Arithmetic that wraps around, as numpy's does: signed overflow is undefined in C++.
template <class T, class Operation>
T wrapping(T a, T b, Operation&& operation) {
  if constexpr (std::is_integral_v<T>) {
    // At least 32 bits: narrower types would be promoted to int.
    using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    return static_cast<T>(operation(static_cast<Wide>(a), static_cast<Wide>(b)));
  } else {
    return operation(a, b);
  }
}

}  // namespace millrace::fallback
