// Detects that the process is exiting. Thread-safe.
#pragma once

namespace millrace {

// Returns true if the calling thread is inside exit(), which the return from main() calls as well:
// in the destructor of a static object or in an atexit handler. Takes microseconds, since it
// unwinds the stack.
bool is_inside_exit() noexcept;

}  // namespace millrace
