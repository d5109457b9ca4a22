// Checks whether libnrt.so.1 can be found and started on this machine, for `millrace doctor`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct NrtFindings {
  std::string library;            // its path and version, or why there is none
  std::optional<Status> started;  // the result of nrt_init; empty if it was not called
  std::vector<std::string> log;   // the lines that it logged
};

// Opens libnrt.so.1 by name and, if it is Millrace's, starts and closes its runtime. Replaces the
// log sink of the process meanwhile, and leaves it without one. Changes a variable of the
// environment, which other threads must not access meanwhile.
NrtFindings look_at_nrt();

}  // namespace millrace::cli
