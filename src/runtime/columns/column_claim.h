// Column claims: which sessions are on which columns, so that an exclusive one can be sure of its
// own, among all processes of the user (column_table.h). Bookkeeping only: groups that stand for
// the same core still share its time.
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

// The columns on which a session asks to run.
struct Placement {
  // Bound: its jobs run on the core of this column's group only. None: on every lane of the device.
  std::optional<uint32_t> start_column = {};
  // Shares its columns with no other session. Without a start column it gets the first group that
  // is free; a shared one the last group without an exclusive session, so that the first ones stay
  // free for those that ask for columns.
  bool exclusive = false;
};

// The columns that a session has, until it is destroyed.
struct ColumnClaim : ColumnUse {
  std::optional<uint32_t> record = {};  // in the table of the user; none where there is no table
};
struct ReleaseColumns {
  void operator()(const ColumnClaim* claim) const noexcept;
};
using ColumnClaimPtr = std::unique_ptr<const ColumnClaim, ReleaseColumns>;

// `holder` is how messages name the session. kInvalidArgument when the start column leaves fewer
// than four; kBusy, naming holder, process (of another one) and columns, when the columns overlap
// those of another claim and either is exclusive, or when no group is free. Where other processes
// cannot be known, it succeeds and each reason is logged once. No cancellation point.
Result<ColumnClaimPtr> claim_columns(const ColumnMap& map, const Placement& placement,
                                     std::string holder);

}  // namespace millrace::runtime
