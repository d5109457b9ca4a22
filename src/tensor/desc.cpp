#include "tensor/desc.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "tensor/dimensions.h"

namespace millrace::tensor {
namespace {

constexpr size_t kTooLarge = std::numeric_limits<size_t>::max();

size_t saturating_product(size_t a, size_t b) noexcept {
  size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooLarge : product;
}

std::vector<uint32_t> identity_order(size_t rank) {
  std::vector<uint32_t> order(rank);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

Layout native_layout(const std::vector<uint32_t>& dimensions, DataType type) {
  if (dimensions.size() != 4) return Layout::kGeneric;
  if (dimensions[1] <= 4) return Layout::kHcwnc4;
  return size_of(type) == 1 ? Layout::kHcwnc16 : Layout::kHcwnc8;
}

std::vector<uint32_t> permuted(const std::vector<uint32_t>& dimensions,
                               std::span<const uint32_t> order) {
  std::vector<uint32_t> shape;
  for (const uint32_t dimension : order) shape.push_back(dimensions[dimension]);
  return shape;
}

}  // namespace

size_t TensorDesc::elements() const noexcept {
  size_t product = 1;
  bool empty = false;
  for (const uint32_t extent : shape) {
    empty = empty || extent == 0;
    product = saturating_product(product, extent);
  }
  return empty ? 0 : product;
}

size_t TensorDesc::bytes() const noexcept {
  return saturating_product(elements(), size_of(type));
}

std::vector<uint32_t> TensorDesc::strides() const {
  std::vector<uint32_t> result(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) result[i - 1] = result[i] * shape[i];
  return result;
}

TensorDesc make_cpu_desc(std::string name, DataType type, std::vector<uint32_t> shape) {
  TensorDesc desc{std::move(name), type, Layout::kNchw, {}, std::move(shape)};
  if (desc.shape.size() != 4) {
    desc.layout = Layout::kGeneric;
    desc.order = identity_order(desc.shape.size());
  }
  return desc;
}

Result<TensorDesc> make_hw_desc(const TensorDesc& cpu, DataType type,
                                std::optional<Layout> layout_override) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<uint32_t> dimensions, dimensions_of(cpu));
  if (size_of(type) == 0)
    return invalid_argument(fmt::format("tensor \"{}\": the HW view needs a data type", cpu.name));
  const Layout layout = layout_override.value_or(native_layout(dimensions, type));
  TensorDesc hw{cpu.name, type, layout, {}, {}};
  if (layout == Layout::kGeneric) {
    hw.order = !layout_override && cpu.layout == Layout::kGeneric
                   ? cpu.order
                   : identity_order(dimensions.size());
    hw.shape = permuted(dimensions, hw.order);
    return hw;
  }
  if (const auto order = plain_order(layout); !order.empty() && order.size() == dimensions.size()) {
    hw.shape = permuted(dimensions, order);
    return hw;
  }
  if (channel_block(layout) != 0 && dimensions.size() == 4) {
    hw.shape = blocked_shape(dimensions, channel_block(layout));
    return hw;
  }
  return invalid_argument(fmt::format(
      "tensor \"{}\" of rank {} cannot have the HW layout {}{}", cpu.name, dimensions.size(),
      to_string(layout),
      plain_order(layout).empty() && channel_block(layout) == 0 ? ", which is not supported" : ""));
}

}  // namespace millrace::tensor
