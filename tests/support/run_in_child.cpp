#include "tests/support/run_in_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace {
bool in_child = false;
}  // namespace

// LeakSanitizer calls this at exit. In a child it is turned off: memory that only threads of the
// parent refer to is not a leak.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() {
  return in_child ? 1 : 0;
}

namespace millrace::test {

int run_in_child(const std::function<int()>& body) {
  constexpr unsigned kSecondsUntilItHangs = 60;
  const pid_t child = ::fork();
  if (child == 0) {
    in_child = true;
    ::alarm(kSecondsUntilItHangs);
    std::exit(body());
  }
  int state = 0;
  if (child < 0 || ::waitpid(child, &state, 0) != child) return -1;
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

}  // namespace millrace::test
