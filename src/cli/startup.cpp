// ONNX, protobuf and OpenCV allocate memory in their static initialisers. Where the address space
// is limited (ulimit -v) that throws std::bad_alloc out of the loader, which nobody can catch.
#include "cli/startup.h"

#include <unistd.h>

#include <exception>
#include <string_view>

namespace millrace::cli {
namespace {

std::terminate_handler usual_handler = nullptr;

[[noreturn]] void report_startup() noexcept {
  constexpr std::string_view kMessage =
      "millrace: there is no memory to start the libraries of this program: raise the limit of its "
      "address space (ulimit -v)\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(1);
}

// This is not instrumented, since the libraries of sanitizers start later, too.
__attribute__((no_sanitize("address", "thread", "undefined"))) void begin_startup() {
  usual_handler = std::set_terminate(report_startup);
}

// The loader calls the functions in this section before the initialisers of all libraries.
__attribute__((section(".preinit_array"), used)) void (*const first_of_all)() = begin_startup;

}  // namespace

void end_of_startup() noexcept {
  std::set_terminate(usual_handler);
}

}  // namespace millrace::cli
