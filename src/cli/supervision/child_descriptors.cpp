#include "cli/supervision/child_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace millrace::cli {
namespace {

// A terminal can be written to through every descriptor, also through that of standard input.
int readable_input() noexcept {
  const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
  const bool only_readable = flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
  return only_readable ? STDIN_FILENO : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

int keep_only(int channel, int output, int error) noexcept {
  constexpr int kKept = 4;
  int descriptors[kKept] = {readable_input(), output, error, channel};
  // The descriptors are first moved away from the numbers that they will get.
  for (int& descriptor : descriptors) {
    descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kKept);
    if (descriptor < 0) return -1;
  }
  for (int number = 0; number < kKept; ++number)
    if (::dup2(descriptors[number], number) < 0) return -1;
  ::closefrom(kKept);
  return kKept - 1;
}

}  // namespace millrace::cli
