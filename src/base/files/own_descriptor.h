// Descriptors that Millrace opens for itself never have the numbers of the standard streams.
//
// A program may have closed its standard input, output or error. The next file that is opened gets
// that number, and whoever prints there afterwards (the program, a library, the C library itself)
// would write into it.
//
//   UniqueFd file = own_descriptor(::open(path, O_RDONLY | O_CLOEXEC));
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace millrace {

// The lowest number that F_DUPFD_CLOEXEC may give to a duplicate.
inline constexpr int kLowestOwnDescriptor = STDERR_FILENO + 1;

// Takes over a descriptor that was just opened with close-on-exec, and moves it above the standard
// streams where it has the number of one. None, with errno as it was, where `fd` is negative; none,
// with errno, where the process has no descriptor left for it.
inline UniqueFd own_descriptor(int fd) noexcept {
  if (fd < 0 || fd >= kLowestOwnDescriptor) return UniqueFd(fd);
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kLowestOwnDescriptor);
  const int reason = errno;
  ::close(fd);
  errno = reason;
  return UniqueFd(moved);
}

}  // namespace millrace
