#include "graph/shape/check.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace millrace::graph {

std::string to_string(const Dims& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

Status check_shape(const Dims& shape) {
  if (shape.size() > kMaxRank) {
    return invalid_argument(
        fmt::format("rank {} is above the limit of {}", shape.size(), kMaxRank));
  }
  int64_t elements = 1;
  for (int64_t dim : shape) {
    if (dim < 0) {
      return invalid_argument(fmt::format("shape {} has a dimension below 0", to_string(shape)));
    }
    if (dim > kMaxElements / elements) {
      return invalid_argument(
          fmt::format("shape {} has more than 2^40 elements", to_string(shape)));
    }
    // Dimensions of 0 are left out of the product, since the strides of an empty tensor are
    // products of its other dimensions and must not overflow either.
    elements *= std::max<int64_t>(dim, 1);
  }
  return {};
}

Status check_operand_count(Operands inputs, size_t required, size_t allowed) {
  if (inputs.size() < required || inputs.size() > allowed) {
    const std::string wanted = required == allowed ? fmt::format("{}", required)
                                                   : fmt::format("{} to {}", required, allowed);
    return invalid_argument(fmt::format("takes {} inputs, has {}", wanted, inputs.size()));
  }
  for (size_t i = 0; i < required; ++i) {
    if (inputs[i] == nullptr) return invalid_argument(fmt::format("input {} is absent", i));
  }
  return {};
}

Status check_floating(const char* what, const Value& value) {
  if (tensor::is_floating(value.type)) return {};
  return invalid_argument(
      fmt::format("{} is {}, not of a floating type", what, tensor::to_string(value.type)));
}

Status check_numeric(const char* what, const Value& value) {
  if (value.type != tensor::DataType::kBoolean) return {};
  return invalid_argument(fmt::format("{} is BOOLEAN, expected a numeric type", what));
}

Status check_shape_is(const char* what, const Value& value, const Dims& expected) {
  if (value.shape == expected) return {};
  return invalid_argument(
      fmt::format("{} is {}, expected {}", what, to_string(value.shape), to_string(expected)));
}

Status check_axis(int64_t axis, size_t rank) {
  if (axis >= 0 && axis < static_cast<int64_t>(rank)) return {};
  return invalid_argument(fmt::format("axis {} of a tensor of rank {}", axis, rank));
}

Status check_activation(const Activation& activation) {
  if (static_cast<int>(activation.kind) < kUnaryKindCount) return {};
  return invalid_argument(fmt::format("unknown function {}", static_cast<int>(activation.kind)));
}

Status check_attribute(const char* name, const Dims& entries, size_t count, int64_t low,
                       int64_t high) {
  if (entries.size() != count) {
    return invalid_argument(
        fmt::format("{} has {} entries, expected {}", name, entries.size(), count));
  }
  for (int64_t entry : entries) {
    if (entry < low || entry > high) {
      return invalid_argument(
          fmt::format("{} {} is not within {} to {}", name, to_string(entries), low, high));
    }
  }
  return {};
}

Result<int64_t> window_positions(const Window& window) {
  const int64_t padded = window.input + window.pad_begin + window.pad_end;
  // (kernel - 1) * dilation stays below 2^62 and cannot overflow.
  if (window.extent() > padded) {
    return invalid_argument(fmt::format("a window of {} is larger than the padded input of {}",
                                        window.extent(), padded));
  }
  return (padded - window.extent()) / window.stride + 1;
}

}  // namespace millrace::graph
