// What a process may ask of the system while it computes with a model that nobody vouches for.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::cli {

// From here on the process may read files, use the descriptors that it has, map memory (executable,
// too: kernels are generated) and start threads. It can open nothing for writing,
// change no folder, have no socket and no memory but what its address space counts, start no
// program, and signal, inspect or move no process.
//
// Only calls that are listed do happen. SIGSYS ends the process at another one, unless it is
// handled; those that libraries try and go on without fail with ENOSYS or EPERM instead. Cannot be
// undone.
//
// To be called while the process has one thread. kUnsupported where the system has no such filters.
Status restrict_process();

// The name of a system call of this machine, or its number.
std::string system_call_name(int number);

}  // namespace millrace::cli
