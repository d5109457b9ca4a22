// Checks whether libnrt.so.1 can be found and started on this machine, for `millrace doctor`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct NrtFindings {
  std::string library;            // its path and version, or why there is none
  std::optional<Status> started;  // the result of nrt_init; none if it was not called
  std::vector<std::string> log;   // messages that it logged
};

// Opens libnrt.so.1 by name and, when it is Millrace's, starts and closes the runtime. Takes the
// log of the process meanwhile, and leaves it without one.
NrtFindings look_at_nrt();

}  // namespace millrace::cli
