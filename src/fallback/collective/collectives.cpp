// Collectives: operators that the ranks of a sharded model compute together (graph/collective.h).
// The kernel here serves groups of one rank; the devices run all others on a communicator.
//
// AllReduce, AllGather and AllToAll are the operators of ONNX Runtime, with one operand each.
// AllReduce has no group_size there and is among all ranks; here it is so as well if the attribute
// is left out. Broadcast is Millrace's own, in the same style.
#include <fmt/format.h>

#include <cstring>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// A limit above the size of any communicator. Dimensions multiplied by it cannot overflow.
constexpr int64_t kMostRanks = int64_t{1} << 20;

Result<int64_t> group_size(const NodeView& node) {
  const int64_t size = node.integer("group_size", 1);
  if (size >= 1 && size <= kMostRanks) return size;
  return invalid_argument(
      fmt::format("group_size is {}; it must be from 1 to {}", size, kMostRanks));
}

Status shape_of_all_reduce(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(group_size(node).status());
  return same_as_first(node);
}

Status shape_of_all_gather(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t ranks, group_size(node));
  Dims dims = to_dims(node.in(0).dims);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.integer("axis", 1), dims.size()));
  dims[axis] *= ranks;
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

Status shape_of_all_to_all(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t ranks, group_size(node));
  const auto dims = node.in(0).dims;
  if (dims.empty() || dims[0] % ranks != 0)
    return invalid_argument(
        fmt::format("the first dimension of {} is not a multiple of the {} ranks",
                    graph::to_string(to_dims(dims)), ranks));
  return same_as_first(node);
}

Status shape_of_broadcast(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const int64_t ranks, group_size(node));
  const int64_t root = node.integer("root", 0);
  const int64_t most = node.has_attribute("group_size") ? ranks : kMostRanks;
  if (root < 0 || root >= most)
    return invalid_argument(fmt::format("root is {}; it must be from 0 to {}", root, most - 1));
  return same_as_first(node);
}

// Runs a collective for a group of one rank, which copies its operand. kAllRanks: without the
// attribute group_size, the group is all ranks, however many there are.
template <bool kAllRanks>
Status copy(const Call& call) {
  if (call.integer("group_size", kAllRanks ? 0 : 1) != 1)
    return unsupported("a collective of several ranks needs their communicator");
  const TensorView& x = call.in(0);
  std::memcpy(call.out(0).data, x.data, x.elements() * tensor::size_of(x.type));
  return {};
}

constexpr AttributeSpec kGroup[] = {{"group_size", AttributeKind::kInteger}};
constexpr AttributeSpec kGather[] = {{"axis", AttributeKind::kInteger},
                                     {"group_size", AttributeKind::kInteger}};
constexpr AttributeSpec kBroadcast[] = {{"group_size", AttributeKind::kInteger},
                                        {"root", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> collective_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.AllGather",
       1,
       {1, 1},
       {1, 1},
       kAll,
       shape_of_all_gather,
       copy<false>,
       kGather},
      {"com.microsoft.AllReduce",
       1,
       {1, 1},
       {1, 1},
       kReals,
       shape_of_all_reduce,
       copy<true>,
       kGroup},
      {"com.microsoft.AllToAll", 1, {1, 1}, {1, 1}, kAll, shape_of_all_to_all, copy<false>, kGroup},
      {"com.microsoft.Broadcast",
       1,
       {1, 1},
       {1, 1},
       kAll,
       shape_of_broadcast,
       copy<true>,
       kBroadcast},
  };
  return kOperators;
}

}  // namespace millrace::fallback
