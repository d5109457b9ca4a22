#include "millrace/tensor.hpp"

#include "device/device.h"
#include "tensor/data_type.h"
#include "tensor/layout.h"

namespace millrace {
namespace {

// The numbers of the API are those of the floors below, so that translation is a cast.
#define MILLRACE_X(enumerator, number, text, bytes) \
  static_assert(static_cast<int>(DataType::enumerator) == (number));
MILLRACE_DATA_TYPES(MILLRACE_X)
#undef MILLRACE_X

constexpr bool same(Layout ours, tensor::Layout theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(same(Layout::kNc, tensor::Layout::kNc) && same(Layout::kNch, tensor::Layout::kNch) &&
              same(Layout::kNhc, tensor::Layout::kNhc) &&
              same(Layout::kNhw, tensor::Layout::kNhw) &&
              same(Layout::kNwc, tensor::Layout::kNwc) &&
              same(Layout::kNhwc, tensor::Layout::kNhwc) &&
              same(Layout::kNchw, tensor::Layout::kNchw) &&
              same(Layout::kHcwnc4, tensor::Layout::kHcwnc4) &&
              same(Layout::kHcwnc8, tensor::Layout::kHcwnc8) &&
              same(Layout::kHcwnc16, tensor::Layout::kHcwnc16) &&
              same(Layout::kGeneric, tensor::Layout::kGeneric));

static_assert(static_cast<int>(View::kCpu) == static_cast<int>(device::View::kCpu) &&
              static_cast<int>(View::kHw) == static_cast<int>(device::View::kHw));

}  // namespace

std::string_view to_string(DataType type) noexcept {
  return tensor::to_string(static_cast<tensor::DataType>(type));
}

size_t size_of(DataType type) noexcept {
  return tensor::size_of(static_cast<tensor::DataType>(type));
}

std::string_view to_string(Layout layout) noexcept {
  return tensor::to_string(static_cast<tensor::Layout>(layout));
}

}  // namespace millrace
