// own_descriptor() keeps descriptors that Millrace opens away from those of the standard streams.
//
// A program may have closed its standard input, output or error. The next file that is opened gets
// that number, and everything that is printed there afterwards (by the program, by a library, by
// the C library itself) would be written into it.
//
//   UniqueFd file = own_descriptor(::open(path, O_RDONLY | O_CLOEXEC));
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace millrace {

// F_DUPFD_CLOEXEC may give a duplicate this number or a higher one.
inline constexpr int kLowestOwnDescriptor = STDERR_FILENO + 1;

// Takes over a descriptor that was just opened with close-on-exec. If it has the number of a
// standard stream, it is moved above these. The result is empty, with errno unchanged, where `fd`
// is negative; it is empty, with errno set, where the process has no free descriptor.
inline UniqueFd own_descriptor(int fd) noexcept {
  if (fd < 0 || fd >= kLowestOwnDescriptor) return UniqueFd(fd);
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kLowestOwnDescriptor);
  const int reason = errno;
  ::close(fd);
  errno = reason;
  return UniqueFd(moved);
}

}  // namespace millrace
