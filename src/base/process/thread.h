// Threads of Millrace. They have a name; all signals are blocked, so that the program's handlers
// run on the program's own threads; they cannot be cancelled, since their work would be lost; and
// they have the default floating-point environment instead of that of the creating thread.
// Thread-safe.
#pragma once

#include <functional>
#include <thread>

#include "base/status.h"

namespace millrace {

// Runs `body` on a new thread. `name` is static and has at most 15 characters, a limit of the
// kernel. kResourceExhausted when the system refuses a thread, kOutOfMemory, or kForked; `body` is
// then destroyed without having run.
Result<std::thread> start_thread(const char* name, std::function<void()> body);

// Pins the calling thread to the logical processor `core`. kIoError, with the reason, when the
// system refuses; the affinity of the thread is then unchanged.
Status pin_this_thread(int core);

}  // namespace millrace
