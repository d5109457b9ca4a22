// ColumnTable: the columns that all processes of the user occupy, so that a claim is exclusive
// across processes. It is a file in shared memory with one record of 256 bytes per claim:
//
//   bytes    0 to 255    256 to 511    512 to 767 ...
//   record   0           1             2              each locked by the process that wrote it
//
// A record is valid as long as its lock is held. The system releases the lock when the process
// ends, in whatever way, so nothing has to be cleaned up. The locks are POSIX record locks of
// processes (F_SETLK), not of open file descriptions: a forked child does not keep the columns of
// its parent, and F_GETLK returns the process that holds a lock. They would be lost if the process
// closed the file, so it never does.
//
// The file is /dev/shm/millrace-columns-<user id>, or the one that MILLRACE_COLUMN_TABLE names;
// with "off" there is none. If it cannot be used, or was removed or closed since, each process
// knows only its own claims. The same holds if the file belongs to another user, if others may
// write to it, or if it does not hold a table.
//
// Not thread-safe; column_claim.cpp, its only user, calls it under a mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/known_file.h"
#include "base/status.h"

namespace millrace::runtime {

// The content of a record: a session uses `columns` columns from `start_column` on.
struct ColumnUse {
  uint32_t start_column;
  uint32_t columns;
  bool exclusive;
  std::string holder = {};  // how messages name the session
  uint64_t owner = 0;       // Placement::owner; 0 for claims of other processes
};

class ColumnTable {
 public:
  // A scope in which no other process adds a claim, for reading the claims and adding one. It holds
  // a lock of the file; the constructor waits for another process's turn, for a second at most, and
  // then does without the table.
  class Turn {
   public:
    Turn();
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Returns the columns that other processes use; their process ids are added to the holders.
    // Empty without a table.
    std::vector<ColumnUse> foreign() const;
    // Writes and locks a record, and returns its number; nothing without a table, or if the table
    // is full or cannot be written.
    std::optional<uint32_t> add(const ColumnUse& use);
    // kIoError, with the reason, if this process and others do not know of each other's claims; OK
    // if the table is switched off.
    const Status& failure() const noexcept { return failure_; }

   private:
    ColumnTable* table_ = nullptr;  // null if there is none, or its lock was not free in time
    Status failure_;
  };

  // Ends the claim of a record that add() has returned.
  // NOLINTNEXTLINE(bugprone-exception-escape): add() has made the table, so this makes none.
  static void remove(uint32_t record) noexcept;

 private:
  ColumnTable() = default;
  static const Result<ColumnTable*>& of_process();  // null if it is switched off
  static Result<ColumnTable*> open(const std::string& path);
  bool is_intact() const noexcept;
  bool lock_turn() const noexcept;
  uint32_t first_free_record() const;

  int fd_ = -1;
  FileIdentity identity_;  // identifies the file of fd_
  std::vector<bool> own_;  // by record: whether it belongs to this process
};

}  // namespace millrace::runtime
