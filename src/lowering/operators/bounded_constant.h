// Storage for constants that handlers compute, within the folding budget.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Returns storage for a constant of this type and shape. kUnsupported if it has too many elements
// or exceeds the folding budget, since a hostile model may state any shape; `what` names the
// constant in the message. The bytes are taken from the budget when the constant is added
// (NodeImport::add_computed()).
Result<MutableConstant> bounded_constant(NodeImport& node, tensor::DataType type, graph::Dims shape,
                                         std::string_view what);

// Adds a constant of INT32, INT64 or FLOAT32 whose elements are `element(row, column)`. Its columns
// are the last dimension of the shape, which is not empty, and its rows all others. Errors are
// those of bounded_constant().
template <class T, class Element>
Result<ValueId> add_table(NodeImport& node, graph::Dims shape, std::string_view what,
                          Element&& element) {
  using tensor::DataType;
  static_assert(std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                std::is_same_v<T, float>);
  constexpr DataType kType = std::is_same_v<T, int32_t>   ? DataType::kInt32
                             : std::is_same_v<T, int64_t> ? DataType::kInt64
                                                          : DataType::kFloat32;
  const int64_t columns = shape.back();
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant constant,
                            bounded_constant(node, kType, std::move(shape), what));
  int64_t row = 0, column = 0;
  for (T& to : constant.as<T>()) {
    to = static_cast<T>(element(row, column));
    if (++column < columns) continue;
    column = 0;
    ++row;
  }
  return node.add_computed(std::move(constant.value));
}

}  // namespace millrace::lowering
