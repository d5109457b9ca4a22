// The hazard checker: finds mistakes in how a program uses jobs and their memory. docs/hazards.md
// describes each, and what the checker costs. The same checker runs in a process with
// MILLRACE_CHECK, whichever API it uses. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/status.hpp"

namespace millrace {

struct HazardFinding {
  std::string hazard;        // its kind, such as "shared_output"
  std::string message;       // names the jobs and the tensor
  std::string remedy;        // what to do about it
  std::string json;          // all that is known, with stacks: docs/hazards.md
  uint64_t occurrences = 0;  // how often it has occurred up to now
};

// Starts the checker of this process, for jobs that are submitted from now on, until the process
// ends. Does nothing if it runs already. Findings also go to the log, if there is one.
// kResourceExhausted if too many observers are active, kInvalidArgument for a wrong
// MILLRACE_CHECK_CALLBACK_MS, kIoError if MILLRACE_CHECK names a file that cannot be written.
Status start_hazard_checker();

// Returns what has been found up to now, in that order; of each kind the first 20. Jobs that are
// never waited for are only known, and logged, when the process ends.
Result<std::vector<HazardFinding>> hazard_findings();

}  // namespace millrace
