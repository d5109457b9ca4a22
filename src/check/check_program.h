// MILLRACE_CHECK: starts the hazard checker of this process when the first device is opened.
//   0 or empty  no checker
//   1           findings go to the log or, without one, to standard error
//   a path      each finding is also appended to that file, as a line of JSON; "%p" in it stands
//               for the id of the process
//
// A program may also start it by a call. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::check {

// Starts the checker, if MILLRACE_CHECK asks for it and this is the first call. Failures are
// logged; the program goes on.
void check_program() noexcept;

// Starts the checker, unless it runs. Throws std::bad_alloc.
Status start_for_program();

struct ProgramFinding {
  std::string_view hazard, remedy;
  std::string message;
  std::string json;  // the finding as an object of JSON on one line, with a line end
  uint64_t occurrences = 0;
};
// Returns what has been found, in that order, of each kind the first few. Throws std::bad_alloc.
std::vector<ProgramFinding> findings_of_program();

}  // namespace millrace::check
