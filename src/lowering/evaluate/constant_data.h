// Storage for constants that the lowering computes. Functions depend on their arguments alone:
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "graph/graph.h"
#include "tensor/visit_element.h"

namespace millrace::lowering {

using tensor::visit_element;

// A value without a name, and write access to the storage of its constant. The value owns the
// storage; `data` is valid as long as the value or a copy of its constant exists.
struct MutableConstant {
  graph::Value value;
  std::byte* data = nullptr;

  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data), value.constant->bytes.size() / sizeof(T)};
  }
};

// Returns storage that is aligned to 64 bytes and not initialised. kInvalidArgument if the shape
// has a negative dimension or its size overflows, kOutOfMemory.
Result<MutableConstant> make_constant(tensor::DataType type, graph::Dims shape);

// The product of non-negative dimensions; nothing if one is negative, or if the product of those
// that are not 0 overflows.
std::optional<int64_t> checked_product(std::span<const int64_t> dims) noexcept;

}  // namespace millrace::lowering
