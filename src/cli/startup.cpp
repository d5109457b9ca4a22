// ONNX and protobuf allocate memory in their static initialisers. If the address space is
// limited (ulimit -v), that may throw std::bad_alloc in the dynamic loader, where no handler can
// catch it. So a terminate handler is installed by .preinit_array, before all initialisers.
#include "cli/startup.h"

#include <unistd.h>

#include <exception>
#include <string_view>

namespace millrace::cli {
namespace {

std::terminate_handler usual_handler = nullptr;

[[noreturn]] void report_startup() noexcept {
  constexpr std::string_view kMessage =
      "millrace: not enough memory to initialise the libraries of this program: raise the limit of "
      "its address space (ulimit -v)\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(1);
}

// This function is not instrumented: the runtime libraries of sanitizers are initialised later.
__attribute__((no_sanitize("address", "thread", "undefined"))) void begin_startup() {
  usual_handler = std::set_terminate(report_startup);
}

// The dynamic loader calls the functions in this section before the initialisers of all libraries.
__attribute__((section(".preinit_array"), used)) void (*const first_of_all)() = begin_startup;

}  // namespace

void end_of_startup() noexcept {
  std::set_terminate(usual_handler);
}

}  // namespace millrace::cli
