// Threads of the library: named, and with all signals blocked, so that the program's handlers run
// on the program's own threads.
#pragma once

#include <functional>
#include <thread>

#include "base/status.h"

namespace millrace {

// Starts `body` on a new thread. `name` has at most 15 characters (a limit of the kernel).
// kUnavailable when the system refuses a thread; `body` is then destroyed.
Result<std::thread> start_thread(const char* name, std::function<void()> body);

}  // namespace millrace
