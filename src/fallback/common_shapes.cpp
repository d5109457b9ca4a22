#include "fallback/common_shapes.h"

#include <fmt/format.h>

namespace millrace::fallback {

Status same_as_first(Inference& node) {
  node.set(0, node.in(0).type, to_dims(node.in(0).dims));
  return {};
}

Status check_one_type(const Inference& node, size_t first) {
  for (size_t i = first + 1; i < node.input_count(); ++i) {
    if (!node.has(i) || node.in(i).type == node.in(first).type) continue;
    return invalid_argument(fmt::format("inputs {} and {} are {} and {}", first, i,
                                        tensor::to_string(node.in(first).type),
                                        tensor::to_string(node.in(i).type)));
  }
  return {};
}

Result<Dims> broadcast_dims(const Inference& node) {
  Dims dims = to_dims(node.in(0).dims);
  for (size_t i = 1; i < node.input_count(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(dims, graph::broadcast(dims, to_dims(node.in(i).dims)));
  }
  return dims;
}

Status broadcast_of_all(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(Dims dims, broadcast_dims(node));
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

Status booleans_of_broadcast(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(Dims dims, broadcast_dims(node));
  node.set(0, DataType::kBoolean, std::move(dims));
  return {};
}

}  // namespace millrace::fallback
