#include "fallback/ml/rows.h"

#include <fmt/format.h>

#include "fallback/common_shapes.h"

namespace millrace::fallback {

Result<Rows> rows_of(const TensorView& x) {
  if (x.rank() == 1) return Rows{1, static_cast<size_t>(x.dims[0])};
  if (x.rank() == 2) return Rows{static_cast<size_t>(x.dims[0]), static_cast<size_t>(x.dims[1])};
  return invalid_argument(fmt::format("its input {} must have rank 1 or 2: rows of features",
                                      graph::to_string(to_dims(x.dims))));
}

std::vector<double> numbers_of(const TensorView& x) {
  std::vector<double> numbers(x.elements());
  const Status status = visit_element(x.type, [&](auto zero) -> Status {
    const auto elements = x.as<decltype(zero)>();
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(elements[i]);
    return {};
  });
  if (!status.ok()) numbers.clear();
  return numbers;
}

const std::vector<float>* stated_numbers(const NodeView& node, const char* name) {
  const auto* list = node.reals(name);
  return list != nullptr ? list : node.reals((std::string(name) + "_as_tensor").c_str());
}

}  // namespace millrace::fallback
