// Whether the process is ending.
#pragma once

namespace millrace {

// Whether the calling thread is inside exit(), which the return from main() calls, too: in a
// destructor of a static object, or in an atexit handler. Takes microseconds: it looks at the
// callers.
bool is_inside_exit() noexcept;

}  // namespace millrace
