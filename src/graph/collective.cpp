#include "graph/collective.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace millrace::graph {
namespace {

struct Named {
  std::string_view name;
  Collective collective;
};
constexpr Named kCollectives[] = {
    {"com.microsoft.AllReduce", Collective::kAllReduce},
    {"com.microsoft.AllGather", Collective::kAllGather},
    {"com.microsoft.AllToAll", Collective::kAllToAll},
    {"com.microsoft.Broadcast", Collective::kBroadcast},
};

}  // namespace

std::optional<Collective> collective_of(const Fallback& op) noexcept {
  const auto* row = std::ranges::find(kCollectives, op.name, &Named::name);
  if (row == std::end(kCollectives)) return std::nullopt;
  return row->collective;
}

}  // namespace millrace::graph
