// TypeSet: a set of element types. Immutable once made; thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tensor/data_type.h"

namespace millrace::graph {

class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<tensor::DataType> types) {
    for (const tensor::DataType type : types) bits_ |= bit(type);
  }
  // False for UNKNOWN and for numbers that are not in the list of tensor/data_type.h.
  constexpr bool contains(tensor::DataType type) const { return (bits_ & bit(type)) != 0; }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr uint32_t bit(tensor::DataType type) {
    const auto number = static_cast<uint32_t>(type);
    return number > 0 && number < tensor::kDataTypeCount ? uint32_t{1} << number : 0;
  }
  uint32_t bits_ = 0;
};

// Lists the names of the types, in the order of tensor/data_type.h, for example "INT8, UINT8".
std::string to_string(TypeSet types);

}  // namespace millrace::graph
