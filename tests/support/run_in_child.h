// Runs a part of a test in a forked child.
#pragma once

#include <functional>

namespace millrace::test {

// Forks; the child calls `body` and returns from its main function with what that returns, as
// exit() does. Returns the child's exit code, or 128 + the signal that ended it: SIGALRM where it
// has not ended after some time.
int run_in_child(const std::function<int()>& body);

}  // namespace millrace::test
