#include "tensor/dimensions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace millrace::tensor {
namespace {

bool is_permutation(const std::vector<uint32_t>& order) {
  std::vector<bool> seen(order.size(), false);
  for (const uint32_t dimension : order) {
    if (dimension >= order.size() || seen[dimension]) return false;
    seen[dimension] = true;
  }
  return true;
}

}  // namespace

Result<std::vector<uint32_t>> order_of(const TensorDesc& view) {
  const size_t rank = view.shape.size();
  if (view.layout == Layout::kGeneric) {
    if (view.order.size() == rank && is_permutation(view.order)) return view.order;
    return invalid_argument(
        fmt::format("tensor \"{}\": the order of a GENERIC view must hold each of 0 to {} once",
                    view.name, rank == 0 ? 0 : rank - 1));
  }
  const auto order = plain_order(view.layout);
  if (order.empty())
    return invalid_argument(
        fmt::format("tensor \"{}\": {} is no dense layout", view.name, to_string(view.layout)));
  if (order.size() != rank)
    return invalid_argument(fmt::format("tensor \"{}\": layout {} needs rank {}, the shape has {}",
                                        view.name, to_string(view.layout), order.size(), rank));
  return std::vector<uint32_t>(order.begin(), order.end());
}

Result<std::vector<uint32_t>> dimensions_of(const TensorDesc& view) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, order_of(view));
  std::vector<uint32_t> dimensions(order.size());
  for (size_t i = 0; i < order.size(); ++i) dimensions[order[i]] = view.shape[i];
  return dimensions;
}

Result<TensorDesc> permuted_view(const TensorDesc& cpu, DataType type,
                                 std::vector<uint32_t> order) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<uint32_t> dimensions, dimensions_of(cpu));
  if (size_of(type) == 0)
    return invalid_argument(fmt::format("tensor \"{}\": the view needs a data type", cpu.name));
  if (order.size() != dimensions.size() || !is_permutation(order))
    return invalid_argument(
        fmt::format("tensor \"{}\" has {} dimensions: the order must be a permutation of their "
                    "indices, not {}",
                    cpu.name, dimensions.size(), fmt::join(order, ",")));
  TensorDesc view{cpu.name, type, Layout::kGeneric, std::move(order), {}};
  for (const uint32_t dimension : view.order) view.shape.push_back(dimensions[dimension]);
  return view;
}

std::vector<uint32_t> blocked_shape(const std::vector<uint32_t>& dimensions, uint32_t block) {
  const uint32_t channels = dimensions[1];
  const uint32_t blocks = channels / block + (channels % block != 0 ? 1 : 0);
  return {dimensions[2], blocks, dimensions[3], dimensions[0], block};
}

}  // namespace millrace::tensor
