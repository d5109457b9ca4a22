// ColumnTable: which columns all processes of the user are on, so that a claim is exclusive beyond
// its process. A file in shared memory with one record per claim:
//
//   bytes    0 to 255    256 to 511    512 to 767 ...
//   record   0           1             2              each locked by the process that wrote it
//
// A record counts as long as its lock is held. The system releases it when the process ends, in
// whatever way, so nothing has to be cleaned up. The locks are those of processes (F_SETLK), not of
// open files: a forked child does not keep the columns of its parent, and the holder of a lock can
// be asked for. They would be lost if the process closed the file, so it never does.
//
// The file is /dev/shm/millrace-columns-<user id>, or what MILLRACE_COLUMN_TABLE names; "off" is
// none. Where it cannot be used, or was removed or closed since, each process knows its own claims
// only. It is not used either where it belongs to another user, where others may write to it, or
// where it holds something else.
//
// Requirement: one thread at a time. column_claim.cpp, its only user, has a lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/known_file.h"
#include "base/status.h"

namespace millrace::runtime {

// An entry of the table: a session uses the four columns from `start_column` on.
struct ColumnUse {
  uint32_t start_column;
  bool exclusive;
  std::string holder;  // how messages name the session
};

class ColumnTable {
 public:
  // The time from looking at the claims to the end of making one, in which no other process makes
  // any. Waits for the turn of another process, and after a second goes without the table.
  class Turn {
   public:
    Turn();
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Columns used by other processes, whose ids are part of the holders; empty without a table.
    std::vector<ColumnUse> foreign() const;
    // The number of the record; none without a table, and where it is full or cannot be written.
    std::optional<uint32_t> add(const ColumnUse& use);
    // kIoError, with the reason, when this process and others do not know of each other's
    // claims; OK also where no table is wanted.
    const Status& failure() const noexcept { return failure_; }

   private:
    ColumnTable* table_ = nullptr;  // null: none, or not in time
    Status failure_;
  };

  // Ends the claim of a record that add() gave.
  // NOLINTNEXTLINE(bugprone-exception-escape): add() has made the table, so this makes none.
  static void remove(uint32_t record) noexcept;

 private:
  ColumnTable() = default;
  static const Result<ColumnTable*>& of_process();  // null: none is wanted
  static Result<ColumnTable*> open(const std::string& path);
  bool is_intact() const noexcept;
  bool lock_turn() const noexcept;
  uint32_t first_free_record() const;

  int fd_ = -1;
  FileIdentity identity_;  // identifies the file of fd_
  std::vector<bool> own_;  // by record: whether it is of this process
};

}  // namespace millrace::runtime
