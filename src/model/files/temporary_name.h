// Temporary names of unfinished outputs: `.millrace-PID-N.tmp`, in the directory of their target,
// so that a rename gives them their final name. The writer holds a lock (flock) on the file or
// directory. One without a lock was left by a process that was killed, and may be removed.
//
// Functions are thread-safe; an object may be used by one thread at a time.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::model {

// The lock that a thread must hold while it creates a file with a temporary name or gives it its
// final one. It makes these steps atomic with respect to remove_temporaries_and().
using NamesLock = std::unique_lock<std::mutex>;
NamesLock lock_temporary_names();

class TemporaryName {
 public:
  TemporaryName() noexcept = default;
  // Calls `make` to create a file or directory with a new name beside `target` and to open it as
  // `entry`, and locks that. `make` returns false, with errno set, on failure; other names are
  // tried on EEXIST. kNotFound or kIoError, with a message that does not contain the path.
  static Result<TemporaryName> create(const NamesLock& lock, const std::string& target,
                                      UniqueFd& entry,
                                      const std::function<bool(const std::string&)>& make);
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  // Removes the file or directory, unless forget() was called.
  ~TemporaryName();

  // The path; empty if there is none.
  const std::string& text() const noexcept { return name_; }
  // Must be called once the file or directory has its final name.
  void forget(const NamesLock& lock) noexcept;

 private:
  std::string name_;
};

// Locks a file or directory, which shows other processes that it is in use. False, with errno set,
// on failure.
bool lock_entry(int fd) noexcept;

// Removes the outputs that killed processes of this user have left in the directory of `target`.
// Failures to remove are ignored.
void remove_left_temporaries(const std::string& target);

// For a program that a signal is about to end: removes all files and directories with temporary
// names of this process, then calls `end`, while no thread can create another one or rename one.
void remove_temporaries_and(const std::function<void()>& end);

}  // namespace millrace::model
