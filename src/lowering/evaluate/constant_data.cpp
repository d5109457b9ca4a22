#include "lowering/evaluate/constant_data.h"

#include <fmt/format.h>

#include <new>

#include "graph/shape.h"

namespace millrace::lowering {
namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte> allocate(size_t bytes) {
  void* block = ::operator new(bytes, kAlignment, std::nothrow);
  if (block == nullptr) return nullptr;
  return {static_cast<std::byte*>(block),
          [](std::byte* pointer) { ::operator delete(pointer, kAlignment); }};
}

}  // namespace

Result<MutableConstant> make_constant(tensor::DataType type, graph::Dims shape) {
  const auto elements = checked_product(shape);
  size_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, tensor::size_of(type), &bytes)) {
    return invalid_argument(fmt::format("the shape {} is too large", graph::to_string(shape)));
  }
  const std::shared_ptr<std::byte> storage = allocate(bytes > 0 ? bytes : 1);
  if (storage == nullptr) {
    return Status(StatusCode::kOutOfMemory, fmt::format("no memory for {} bytes", bytes));
  }
  MutableConstant result;
  result.data = storage.get();
  result.value.type = type;
  result.value.shape = std::move(shape);
  result.value.constant = graph::Constant{{storage.get(), bytes}, storage};
  return result;
}

std::optional<int64_t> checked_product(std::span<const int64_t> dims) noexcept {
  int64_t product = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, dim, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

}  // namespace millrace::lowering
