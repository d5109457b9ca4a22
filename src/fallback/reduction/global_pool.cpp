// GlobalAveragePool and GlobalMaxPool for types that the GlobalPool of the graph does not support.
#include <algorithm>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

Status shape_of_global_pool(Inference& node) {
  const TensorView& x = node.in(0);
  if (x.rank() < 3) return invalid_argument("its input has no spatial dimensions");
  if (element_count(x.dims.subspan(2)) == 0)
    return invalid_argument("its input has channels without elements");
  Dims dims = to_dims(x.dims);
  std::fill(dims.begin() + 2, dims.end(), 1);
  node.set(0, x.type, std::move(dims));
  return {};
}

// Computes y = f(elements of the channel).
template <class Function>
Status pool(const Call& call, Function&& f) {
  const size_t size = element_count(call.in(0).dims.subspan(2));
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto y = call.out(0).as<T>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = f(call.in(0).as<T>().subspan(i * size, size));
    return {};
  });
}

Status average(const Call& call) {
  return pool(call, [](auto elements) {
    double sum = 0;
    for (const auto element : elements) sum += static_cast<double>(element);
    using T = typename decltype(elements)::value_type;
    return static_cast<T>(sum / static_cast<double>(elements.size()));
  });
}

Status largest(const Call& call) {
  return pool(call, [](auto elements) {
    auto most = elements[0];
    for (const auto element : elements) most = reference::Max{}(most, element);
    return most;
  });
}

}  // namespace

std::span<const OperatorSpec> global_pool_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"GlobalAveragePool", 1, {}, {}, kReals, shape_of_global_pool, average},
      {"GlobalMaxPool", 1, {}, {}, kReals, shape_of_global_pool, largest},
  };
  return kOperators;
}

}  // namespace millrace::fallback
