#include "runtime/dynamic/iteration.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::runtime {

Result<RunValue> join_iterations(std::vector<RunValue> parts, size_t axis,
                                 const network::Output& declared) {
  if (!parts.empty()) {
    if (axis > parts.front().shape.size())
      return invalid_argument(fmt::format("output '{}' has no dimension {}", declared.name, axis));
    return join_parts(std::move(parts), axis);
  }
  if (declared.type == tensor::DataType::kUnknown)
    return invalid_argument(fmt::format(
        "there is no iteration, and the subgraph does not state the type of '{}'", declared.name));
  graph::Dims shape;
  for (const network::Dimension& dim : declared.shape)
    shape.push_back(std::max<int64_t>(dim.size, 0));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(std::min(axis, shape.size())), 0);
  return allocate_value(declared.type, std::move(shape));
}

}  // namespace millrace::runtime
