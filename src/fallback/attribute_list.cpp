#include "fallback/attribute_list.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "tensor/visit_element.h"

namespace millrace::fallback {
namespace {

// The bytes of a constant need not be aligned.
template <class T>
T element_at(std::span<const std::byte> bytes, size_t index) {
  T element;
  std::memcpy(&element, bytes.data() + index * sizeof(T), sizeof(T));
  return element;
}

}  // namespace

Result<graph::Attribute::Value> attribute_list(const graph::Value& tensor) {
  const auto bytes = tensor.constant->bytes;
  graph::Dims integers;
  std::vector<float> floats;
  MILLRACE_RETURN_IF_ERROR(tensor::visit_element(tensor.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const size_t count = bytes.size() / sizeof(T);
    for (size_t i = 0; i < count; ++i) {
      const T element = element_at<T>(bytes, i);
      if constexpr (std::is_same_v<T, float>) {
        floats.push_back(element);
      } else if constexpr (std::is_integral_v<T>) {
        if (!std::in_range<int64_t>(element))
          return unsupported(fmt::format("a list of integers cannot hold {}", element));
        integers.push_back(static_cast<int64_t>(element));
      } else {
        return unsupported("the element type of an attribute is not supported");
      }
    }
    return {};
  }));
  if (tensor::is_floating(tensor.type)) return graph::Attribute::Value(std::move(floats));
  return graph::Attribute::Value(std::move(integers));
}

}  // namespace millrace::fallback
