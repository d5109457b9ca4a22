// What a process may ask of the system while it computes with a model that nobody vouches for.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::cli {

// From here on the process may read files, use the descriptors that it has, map memory (executable,
// too: kernels are generated) and start threads. It can open nothing for writing, change no folder,
// have no socket, start no program, and signal or inspect no process. A call that is not allowed
// does not happen, and SIGSYS ends the process unless it is handled. Cannot be undone.
//
// To be called while the process has one thread. kUnsupported where the system has no such filters.
Status restrict_process();

// The name of a system call of this machine, or its number.
std::string system_call_name(int number);

}  // namespace millrace::cli
