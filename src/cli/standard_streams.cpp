#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

#include "base/files/standard_error.h"

namespace millrace::cli {

void hold_standard_streams() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0)
      // open() returns the lowest free number, which is this one. If it fails, the stream stays
      // closed.
      static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  fix_standard_error();
}

}  // namespace millrace::cli
