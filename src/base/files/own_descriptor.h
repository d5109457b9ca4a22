// own_descriptor() ensures that descriptors which Millrace opens do not have the numbers of the
// standard streams.
//
// A program may have closed its standard input, output or error. The next file that is opened gets
// that number, and everything that is printed there afterwards, by the program or a library, would
// be written into that file.
//
//   UniqueFd file = own_descriptor(::open(path, O_RDONLY | O_CLOEXEC));
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace millrace {

// The lowest number for descriptors of Millrace, to be passed to F_DUPFD_CLOEXEC.
inline constexpr int kLowestOwnDescriptor = STDERR_FILENO + 1;

// Takes ownership of a descriptor that was just opened with close-on-exec. If it has the number of
// a standard stream, it is replaced by a duplicate with a higher one. The result is empty, with
// errno unchanged, if `fd` is negative; it is empty, with errno set, if the process has no free
// descriptor.
inline UniqueFd own_descriptor(int fd) noexcept {
  if (fd < 0 || fd >= kLowestOwnDescriptor) return UniqueFd(fd);
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kLowestOwnDescriptor);
  const int reason = errno;
  ::close(fd);
  errno = reason;
  return UniqueFd(moved);
}

}  // namespace millrace
