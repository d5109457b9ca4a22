// MILLRACE_CHECK: starts the hazard checker of this process when the first device is opened.
//   0 or empty  no checker
//   1           findings go to the log or, without one, to standard error
//   a path      each finding is also appended to that file, as a line of JSON; "%p" in it stands
//               for the id of the process
//
// Failures are logged; the program goes on. Thread-safe.
#pragma once

namespace millrace::check {

// Starts the checker, if MILLRACE_CHECK asks for it and this is the first call.
void check_program() noexcept;

}  // namespace millrace::check
