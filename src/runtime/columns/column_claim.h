// Column claims: record which sessions occupy which columns, in all processes of the user
// (column_table.h), and place models as the board's runtime does:
//
// - Models share columns, and take turns on them, only if they start at the same column and occupy
//   as many, and neither is exclusive. Those of one owner also share exclusive columns.
// - A model without a start column gets the first free columns, as many as it occupies, from a
//   multiple of four on. If there are none, it shares the columns of models that occupy as many, if
//   it can; of several such places, the one with the fewest models.
//
// This is bookkeeping only: groups that stand for the same core still share its time.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "runtime/columns/column_table.h"
#include "runtime/columns/columns.h"

namespace millrace::runtime {

// The columns that a session requests.
struct Placement {
  // The session's jobs run only on the core of this column's group. Without a start column they run
  // on every lane of the device.
  std::optional<uint32_t> start_column = {};
  // The session shares its columns with no other one.
  bool exclusive = false;
  // How many columns the model occupies: a multiple of four.
  uint32_t columns = kColumnsPerGroup;
  // Sessions with the same owner share exclusive columns with each other. With 0 a session has no
  // owner.
  uint64_t owner = 0;
};

// Returns an owner that no placement of this process has had.
uint64_t new_column_owner() noexcept;

// The columns that a session holds. The claim ends when this object is destroyed.
struct ColumnClaim : ColumnUse {
  std::optional<uint32_t> record = {};  // its record in the user's table, if there is a table
};
struct ReleaseColumns {
  void operator()(const ColumnClaim* claim) const noexcept;
};
using ColumnClaimPtr = std::unique_ptr<const ColumnClaim, ReleaseColumns>;

// Claims columns for a session, which messages name `holder`. kInvalidArgument if there are fewer
// columns than the model occupies, from the start column on or at all. kBusy, with the other
// claim's holder, columns and process (if that is another one), if the columns overlap those of a
// claim with which they cannot be shared, or if there is no place. If the claims of other processes
// cannot be read, it succeeds without them, and logs each reason once. Not a cancellation point.
Result<ColumnClaimPtr> claim_columns(const ColumnMap& map, const Placement& placement,
                                     std::string holder);

}  // namespace millrace::runtime
