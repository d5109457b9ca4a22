// Threads of the library: named; with all signals blocked, so that the program's handlers run on
// the program's own threads; not to be cancelled, which would lose what they are to do; and in the
// default floating-point environment, where the system gives them that of the creating thread.
#pragma once

#include <functional>
#include <thread>

#include "base/status.h"

namespace millrace {

// Starts `body` on a new thread. `name` has at most 15 characters (a limit of the kernel).
// kResourceExhausted when the system refuses a thread, kOutOfMemory, kForked; then `body` is
// destroyed without having run.
Result<std::thread> start_thread(const char* name, std::function<void()> body);

// Lets the calling thread run on the logical processor `core` only. kIoError, with the reason,
// when the system refuses; the thread then runs on the processors that it could run on before.
Status pin_this_thread(int core);

}  // namespace millrace
