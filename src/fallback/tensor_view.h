// Views of dense tensors for fallback operators: type, dimensions, and elements in C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/operators.h"
#include "tensor/data_type.h"

namespace millrace::fallback {

using graph::Dims;
using tensor::DataType;

inline size_t element_count(std::span<const int64_t> dims) noexcept {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

// An operand. The caller keeps dimensions and elements alive and unchanged.
struct TensorView {
  DataType type = DataType::kUnknown;  // kUnknown if the operand is absent
  std::span<const int64_t> dims;
  // Null while only type and dimensions are known. It may also be null if there are no elements.
  const std::byte* data = nullptr;

  bool present() const noexcept { return type != DataType::kUnknown; }
  size_t rank() const noexcept { return dims.size(); }
  size_t elements() const noexcept { return element_count(dims); }
  // Requirements: T holds elements of `type`; the data is known.
  template <class T>
  std::span<const T> as() const noexcept {
    return {reinterpret_cast<const T*>(data), elements()};
  }
};

// An output, whose elements the kernel fills.
struct OutputView {
  DataType type = DataType::kUnknown;
  std::span<const int64_t> dims;
  std::byte* data = nullptr;

  size_t elements() const noexcept { return element_count(dims); }
  template <class T>
  std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data), elements()};
  }
};

}  // namespace millrace::fallback
