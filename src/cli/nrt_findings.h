// Checks whether libnrt.so.1 can be found and started on this machine, for `millrace doctor`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct NrtFindings {
  std::string library;            // where it is and its version, or why there is none
  std::optional<Status> started;  // what nrt_init says; none where it was not called
  std::vector<std::string> log;   // what it logged
};

// Opens libnrt.so.1 by name and, when it is Millrace's, starts and closes the runtime. Takes the
// log of the process meanwhile, and leaves it without one.
NrtFindings look_at_nrt();

}  // namespace millrace::cli
