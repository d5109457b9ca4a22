#include "ranks/signature.h"

#include <fmt/format.h>

namespace millrace::ranks {

std::string_view name_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::kAllReduce:
      return "all_reduce";
    case Operation::kReduceScatter:
      return "reduce_scatter";
    case Operation::kAllGather:
      return "all_gather";
    case Operation::kBroadcast:
      return "broadcast";
    case Operation::kAllToAll:
      return "all_to_all";
    case Operation::kPermute:
      return "permute";
    case Operation::kBarrier:
      return "barrier";
    case Operation::kLeave:
      return "leave";
    case Operation::kGivenUp:
      return "give up";
  }
  return "an unknown operation";
}

std::string describe(const Signature& signature) {
  const std::string head = fmt::format("{} {}", name_of(signature.operation), signature.number);
  switch (signature.operation) {
    case Operation::kBarrier:
    case Operation::kLeave:
      return head;
    case Operation::kBroadcast:
      return fmt::format("{} ({} bytes of rank {})", head, signature.bytes, signature.root);
    case Operation::kAllReduce:
    case Operation::kReduceScatter:
      return fmt::format("{} ({} {} of {} bytes)", head, to_string(signature.element),
                         to_string(signature.reduction), signature.bytes);
    default:
      return fmt::format("{} ({} bytes)", head, signature.bytes);
  }
}

}  // namespace millrace::ranks
