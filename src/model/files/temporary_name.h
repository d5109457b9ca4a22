// The names of outputs that are not finished: `.millrace-PID-N.tmp`, in the folder of their target,
// so that they get their final name by a rename. The file or directory of such a name is locked by
// its writer. One that nobody locks was left by a process that was killed, and may be removed.
//
// Thread-safe, except that an object belongs to one thread at a time.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::model {

// Lock that a thread holds while one of the names of the process gets its file or loses it. It lets
// remove_temporaries_and() come before or after such a step, never in between.
using NamesLock = std::unique_lock<std::mutex>;
NamesLock lock_temporary_names();

class TemporaryName {
 public:
  TemporaryName() noexcept = default;
  // Has `make` create and open a file or directory of a new name beside `target`, and locks it.
  // `make` returns whether it could, and errno says why not. kNotFound or kIoError, without the
  // path.
  static Result<TemporaryName> create(const NamesLock& lock, const std::string& target,
                                      UniqueFd& entry,
                                      const std::function<bool(const std::string&)>& make);
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  // Removes what still has the name.
  ~TemporaryName();

  // The path, empty when there is none.
  const std::string& text() const noexcept { return name_; }
  // To be called once the file or directory has its final name.
  void forget(const NamesLock& lock) noexcept;

 private:
  std::string name_;
};

// Keeps other processes from taking the file or directory for one that was left.
bool lock_entry(int fd) noexcept;

// Removes what killed processes of this user have left in the folder of `target`. Failures to
// remove are ignored.
void remove_left_temporaries(const std::string& target);

// For a program that a signal is about to end: removes what has a temporary name of this process,
// then runs `end` while no thread can create another or give one its final name.
void remove_temporaries_and(const std::function<void()>& end);

}  // namespace millrace::model
