// Writes the trace of a program that does not end by itself: when a signal ends it, when SIGUSR2
// asks for it, and when a job fails with its device. A thread of its own calls the function that
// writes, since a signal handler may call hardly anything.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace millrace::timeline {

enum class DumpCause : uint8_t {
  kIncident,  // a crash, a failure, or a wish for a dump
  kStop,      // only an ordinary request to stop: SIGINT, SIGTERM or SIGHUP
};

// Starts the thread, and handles those signals that have their default action: SIGINT, SIGTERM,
// SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL, which still end the process, some
// seconds later at most, and SIGUSR2. To be called once. kResourceExhausted, kOutOfMemory, kForked.
Status dump_on_signals(void (*dump)(DumpCause) noexcept);

// Ends the thread, and gives the signals their default actions again. To be called when the process
// exits or the library is unloaded.
void end_dumps() noexcept;

// Asks for a dump, and does not wait for it. Async-signal-safe.
void request_dump() noexcept;

}  // namespace millrace::timeline
