// Column claims: record which sessions occupy which columns, so that an exclusive session shares
// its columns with no other one, in any process of the user (column_table.h). This is bookkeeping
// only: groups that stand for the same core still share its time.
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
  // The session shares its columns with no other one. Without a start column, an exclusive session
  // gets the first free group, and a shared one the last group without an exclusive session, so
  // that the first groups stay free for sessions that request columns.
  bool exclusive = false;
};

// The columns that a session holds. The claim ends when this object is destroyed.
struct ColumnClaim : ColumnUse {
  std::optional<uint32_t> record = {};  // its record in the user's table, if there is a table
};
struct ReleaseColumns {
  void operator()(const ColumnClaim* claim) const noexcept;
};
using ColumnClaimPtr = std::unique_ptr<const ColumnClaim, ReleaseColumns>;

// Claims columns for a session, which messages name `holder`. kInvalidArgument if there are fewer
// than four columns from the start column on. kBusy, with the other claim's holder, columns and
// process (if that is another one), if the columns overlap those of another claim and either is
// exclusive, or if no group is free. If the claims of other processes cannot be read, it succeeds
// without them, and logs each reason once. Not a cancellation point.
Result<ColumnClaimPtr> claim_columns(const ColumnMap& map, const Placement& placement,
                                     std::string holder);

}  // namespace millrace::runtime
