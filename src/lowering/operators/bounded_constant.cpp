#include "lowering/operators/bounded_constant.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::lowering {

Result<MutableConstant> bounded_constant(NodeImport& node, tensor::DataType type, graph::Dims shape,
                                         std::string_view what) {
  const auto elements = checked_product(shape);
  if (!elements || *elements > graph::kMaxElements)
    return unsupported(fmt::format("{} of shape {} is too large", what, graph::to_string(shape)));
  MILLRACE_RETURN_IF_ERROR(
      node.builder().check_computed(static_cast<size_t>(*elements) * tensor::size_of(type)));
  return make_constant(type, std::move(shape));
}

}  // namespace millrace::lowering
