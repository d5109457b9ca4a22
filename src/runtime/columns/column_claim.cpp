// Claims are compared with those of this process and, while this process has its turn with the
// user's table, with those of all others. One mutex guards the list of this process's claims.
#include "runtime/columns/column_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "base/log.h"
#include "base/seen_reasons.h"

namespace millrace::runtime {
namespace {

using ClaimList = std::vector<const ColumnUse*>;

struct Claims {
  std::mutex mutex;
  ClaimList all;         // all claims of this process
  SeenReasons reported;  // logged reasons for having no table
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

// Returns a claim that conflicts with the use of these columns; null if there is none.
const ColumnUse* obstacle(const ClaimList& all, uint32_t start_column, bool exclusive) {
  const auto found = std::ranges::find_if(all, [&](const ColumnUse* claim) {
    return (exclusive || claim->exclusive) && overlap(claim->start_column, start_column);
  });
  return found == all.end() ? nullptr : *found;
}

Status in_the_way(const ColumnUse& holder, uint32_t start_column, bool exclusive) {
  return {StatusCode::kBusy, fmt::format("{} cannot be {}: {} is on {}, {}",
                                         columns_from(start_column), how(exclusive), holder.holder,
                                         columns_from(holder.start_column), how(holder.exclusive))};
}

Status none_is_free(const ColumnMap& map, const ColumnUse& first, bool exclusive) {
  return {StatusCode::kBusy, fmt::format("none of the {} groups of columns is free to be {}: {} is "
                                         "on {}, {}",
                                         map.groups(), how(exclusive), first.holder,
                                         columns_from(first.start_column), how(first.exclusive))};
}

Result<uint32_t> first_free_group(const ColumnMap& map, const ClaimList& all) {
  for (uint32_t column = 0; column < map.columns(); column += kColumnsPerGroup)
    if (obstacle(all, column, true) == nullptr) return column;
  return none_is_free(map, *obstacle(all, 0, true), true);
}

Result<uint32_t> last_group_to_share(const ColumnMap& map, const ClaimList& all) {
  for (uint32_t column = map.columns(); column > 0; column -= kColumnsPerGroup)
    if (obstacle(all, column - kColumnsPerGroup, false) == nullptr)
      return column - kColumnsPerGroup;
  return none_is_free(map, *obstacle(all, 0, false), false);
}

Status check_start_column(const ColumnMap& map, uint32_t start_column) {
  if (start_column <= map.last_start_column()) return {};
  return invalid_argument(
      fmt::format("start column {} is outside 0 to {}: a model takes {} of the {} columns",
                  start_column, map.last_start_column(), kColumnsOfAModel, map.columns()));
}

Result<uint32_t> choose_columns(const ColumnMap& map, const Placement& placement,
                                const ClaimList& all) {
  if (!placement.start_column)
    return placement.exclusive ? first_free_group(map, all) : last_group_to_share(map, all);
  MILLRACE_RETURN_IF_ERROR(check_start_column(map, *placement.start_column));
  if (const ColumnUse* holds = obstacle(all, *placement.start_column, placement.exclusive))
    return in_the_way(*holds, *placement.start_column, placement.exclusive);
  return *placement.start_column;
}

// Chooses columns and adds the claim to the list and the table. Requirement: the mutex of the
// claims is held.
Result<ColumnClaimPtr> claim_in(ColumnTable::Turn& turn, const ColumnMap& map,
                                const Placement& placement, std::string holder) {
  const std::vector<ColumnUse> foreign = turn.foreign();
  ClaimList& own = claims().all;
  ClaimList all = own;
  for (const ColumnUse& use : foreign) all.push_back(&use);
  MILLRACE_ASSIGN_OR_RETURN(const uint32_t start_column, choose_columns(map, placement, all));
  own.reserve(own.size() + 1);  // so that push_back() below cannot fail after the record is made
  auto claim = std::make_unique<ColumnClaim>(
      ColumnClaim{{start_column, placement.exclusive, std::move(holder)}, {}});
  claim->record = turn.add(*claim);
  own.push_back(claim.get());
  return ColumnClaimPtr(claim.release());
}

// Returns whether this failure was not logged yet. Requirement: the mutex of the claims is held.
bool is_new(const Status& failure) {
  return !failure.ok() &&
         claims().reported.note("runtime", failure.message()) == SeenReasons::Answer::kNew;
}

}  // namespace

void ReleaseColumns::operator()(const ColumnClaim* claim) const noexcept {
  const CancellationOff whole;
  {
    const std::lock_guard lock(claims().mutex);
    std::erase(claims().all, claim);
    if (claim->record) ColumnTable::remove(*claim->record);
  }
  delete claim;
}

// A log sink may itself create a session, so the line is logged after all locks are released.
Result<ColumnClaimPtr> claim_columns(const ColumnMap& map, const Placement& placement,
                                     std::string holder) {
  const CancellationOff whole;
  Status to_report;
  Result<ColumnClaimPtr> claim = [&] {
    const std::lock_guard lock(claims().mutex);
    ColumnTable::Turn turn;
    Result<ColumnClaimPtr> made = claim_in(turn, map, placement, std::move(holder));
    if (is_new(turn.failure())) to_report = turn.failure();
    return made;
  }();
  if (!to_report.ok())
    log(LogLevel::kWarning, "runtime",
        fmt::format("exclusive columns are exclusive within this process only: {}",
                    to_report.message()));
  return claim;
}

}  // namespace millrace::runtime
