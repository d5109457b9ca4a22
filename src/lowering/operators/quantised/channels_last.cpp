#include "lowering/operators/quantised/channels_last.h"

#include <algorithm>
#include <numeric>

#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::Dims;

Result<Dims> order_of(NodeImport& node, ValueId x) {
  Dims order(node.builder().value(x).shape.size());
  if (order.size() < 3) return invalid_argument("its image has no spatial dimensions");
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

}  // namespace

bool has_channels_last(NodeImport& node) {
  return node.int_attribute("channels_last", 0) != 0;
}

Result<ValueId> channels_to_front(NodeImport& node, ValueId x) {
  MILLRACE_ASSIGN_OR_RETURN(Dims order, order_of(node, x));
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return node.emit(graph::Transpose{std::move(order)}, {x});
}

Result<ValueId> channels_to_back(NodeImport& node, ValueId x) {
  MILLRACE_ASSIGN_OR_RETURN(Dims order, order_of(node, x));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return node.emit(graph::Transpose{std::move(order)}, {x});
}

Result<ValueId> import_nhwc_max_pool(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId x, channels_to_front(node, node.operand(0)));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, emit_max_pool(node, x));
  return channels_to_back(node, y);
}

}  // namespace millrace::lowering
