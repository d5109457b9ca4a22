#include "runtime/column_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace millrace::runtime {
namespace {

struct Claims {
  std::mutex mutex;
  std::vector<const ColumnClaim*> all;
};

Claims& claims() {
  // Never destroyed: sessions may be closed while the process exits.
  static Claims* made = new Claims;
  return *made;
}

bool overlap(uint32_t one, uint32_t other) {
  return std::max(one, other) - std::min(one, other) < kColumnsOfAModel;
}

const char* how(bool exclusive) {
  return exclusive ? "exclusive" : "shared";
}

// The claim that keeps a session off these columns; null when there is none.
const ColumnClaim* obstacle(const std::vector<const ColumnClaim*>& all, uint32_t start_column,
                            bool exclusive) {
  const auto found = std::ranges::find_if(all, [&](const ColumnClaim* claim) {
    return (exclusive || claim->exclusive) && overlap(claim->start_column, start_column);
  });
  return found == all.end() ? nullptr : *found;
}

Status in_the_way(const ColumnClaim& holder, uint32_t start_column, bool exclusive) {
  return {StatusCode::kBusy, fmt::format("{} cannot be {}: {} is on {}, {}",
                                         columns_from(start_column), how(exclusive), holder.holder,
                                         columns_from(holder.start_column), how(holder.exclusive))};
}

Result<uint32_t> first_free_group(const ColumnMap& map,
                                  const std::vector<const ColumnClaim*>& all) {
  for (uint32_t column = 0; column < map.columns(); column += kColumnsPerGroup)
    if (obstacle(all, column, true) == nullptr) return column;
  return Status(
      StatusCode::kBusy,
      fmt::format("none of the {} groups of columns is free to be exclusive: {} is on {}",
                  map.groups(), all.front()->holder, columns_from(all.front()->start_column)));
}

Status check_start_column(const ColumnMap& map, uint32_t start_column) {
  if (start_column <= map.last_start_column()) return {};
  return invalid_argument(
      fmt::format("start column {} is outside 0 to {}: a model takes {} of the {} columns",
                  start_column, map.last_start_column(), kColumnsOfAModel, map.columns()));
}

}  // namespace

void ReleaseColumns::operator()(const ColumnClaim* claim) const noexcept {
  {
    const std::lock_guard lock(claims().mutex);
    std::erase(claims().all, claim);
  }
  delete claim;
}

Result<ColumnClaimPtr> claim_columns(const ColumnMap& map, const Placement& placement,
                                     std::string holder) {
  if (!placement.start_column && !placement.exclusive) return ColumnClaimPtr();
  const std::lock_guard lock(claims().mutex);
  std::vector<const ColumnClaim*>& all = claims().all;
  uint32_t start_column = 0;
  if (placement.start_column) {
    start_column = *placement.start_column;
    MILLRACE_RETURN_IF_ERROR(check_start_column(map, start_column));
    if (const ColumnClaim* holds = obstacle(all, start_column, placement.exclusive))
      return in_the_way(*holds, start_column, placement.exclusive);
  } else {
    MILLRACE_ASSIGN_OR_RETURN(start_column, first_free_group(map, all));
  }
  all.reserve(all.size() + 1);  // a failure must come before there is a claim to release
  ColumnClaimPtr claim(new ColumnClaim{start_column, placement.exclusive, std::move(holder)});
  all.push_back(claim.get());
  return claim;
}

}  // namespace millrace::runtime
