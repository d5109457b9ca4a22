// Claims are compared with those of this process and, while this process has its turn with the
// user's table, with those of all others. One mutex guards the list of this process's claims.
#include "runtime/columns/column_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
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

uint64_t end_of(const ColumnUse& use) {
  return uint64_t{use.start_column} + use.columns;
}

bool overlap(const ColumnUse& one, const ColumnUse& other) {
  return one.start_column < end_of(other) && other.start_column < end_of(one);
}

bool can_share(const ColumnUse& one, const ColumnUse& other) {
  const bool is_same_owner = one.owner != 0 && one.owner == other.owner;
  const bool is_allowed = is_same_owner || (!one.exclusive && !other.exclusive);
  return is_allowed && one.start_column == other.start_column && one.columns == other.columns;
}

// Returns the use of a placement from a start column on, for comparisons.
ColumnUse use_of(const Placement& placement, uint32_t start_column) {
  return {start_column, placement.columns, placement.exclusive, {}, placement.owner};
}

// Returns "columns 4 to 7, shared".
std::string describe(const ColumnUse& use) {
  return fmt::format("{}, {}", columns_from(use.start_column, use.columns),
                     use.exclusive ? "exclusive" : "shared");
}

// Returns a claim that overlaps the wanted columns and cannot share them; null if there is none.
const ColumnUse* obstacle(const ClaimList& all, const ColumnUse& wanted) {
  const auto found = std::ranges::find_if(all, [&](const ColumnUse* claim) {
    return overlap(*claim, wanted) && !can_share(*claim, wanted);
  });
  return found == all.end() ? nullptr : *found;
}

Status in_the_way(const ColumnUse& holder, const ColumnUse& wanted) {
  const bool both_shared = !holder.exclusive && !wanted.exclusive;
  return {StatusCode::kBusy,
          fmt::format("{} cannot be {}: {} is on {}{}",
                      columns_from(wanted.start_column, wanted.columns),
                      wanted.exclusive ? "exclusive" : "shared", holder.holder, describe(holder),
                      both_shared ? ", and models share columns only if they start at the same one "
                                    "and occupy as many"
                                  : "")};
}

Status no_place(const ColumnMap& map, const ClaimList& all, const Placement& placement) {
  const ColumnUse& first = *obstacle(all, {0, placement.columns, true});
  return {StatusCode::kBusy,
          fmt::format("no {} adjacent columns of the {} are free{}: {} is on {}", placement.columns,
                      map.columns(), placement.exclusive ? "" : ", and none can be shared",
                      first.holder, describe(first))};
}

std::optional<uint32_t> first_free(const ColumnMap& map, const ClaimList& all, uint32_t columns) {
  for (uint32_t column = 0; column + columns <= map.columns(); column += kColumnsPerGroup)
    if (obstacle(all, {column, columns, true}) == nullptr) return column;
  return std::nullopt;
}

// Returns where the fewest claims are that the placement can share columns with; the first place
// among equal ones.
std::optional<uint32_t> least_shared(const ColumnMap& map, const ClaimList& all,
                                     const Placement& placement) {
  std::map<uint32_t, size_t> claims_at;  // by start column
  for (const ColumnUse* claim : all)
    // Another process may have more columns.
    if (can_share(*claim, use_of(placement, claim->start_column)) &&
        end_of(*claim) <= map.columns())
      ++claims_at[claim->start_column];
  const auto found =
      std::ranges::min_element(claims_at, {}, &decltype(claims_at)::value_type::second);
  return found == claims_at.end() ? std::nullopt : std::optional(found->first);
}

Status check_room(const ColumnMap& map, const Placement& placement) {
  if (placement.columns > map.columns())
    return invalid_argument(fmt::format("the model takes {} columns, but there are {}",
                                        placement.columns, map.columns()));
  const uint32_t last = map.columns() - placement.columns;
  if (placement.start_column.value_or(0) <= last) return {};
  return invalid_argument(
      fmt::format("start column {} is outside 0 to {}: the model takes {} of the {} columns",
                  *placement.start_column, last, placement.columns, map.columns()));
}

Result<uint32_t> choose_columns(const ColumnMap& map, const Placement& placement,
                                const ClaimList& all) {
  MILLRACE_RETURN_IF_ERROR(check_room(map, placement));
  if (placement.start_column) {
    const ColumnUse wanted = use_of(placement, *placement.start_column);
    if (const ColumnUse* holder = obstacle(all, wanted)) return in_the_way(*holder, wanted);
    return *placement.start_column;
  }
  std::optional<uint32_t> place = first_free(map, all, placement.columns);
  if (!place) place = least_shared(map, all, placement);
  if (!place) return no_place(map, all, placement);
  return *place;
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
  auto claim = std::make_unique<ColumnClaim>(ColumnClaim{use_of(placement, start_column), {}});
  claim->holder = std::move(holder);
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

uint64_t new_column_owner() noexcept {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

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
