// The seccomp filter of a process that computes with an untrusted model: an allow-list of system
// calls and of their arguments.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::cli {

// After this call the process may read files, use the descriptors that it has, map memory (also
// executable memory, since kernels are generated) and start threads. It cannot open files to write,
// change folders, use sockets, get memory that its address space does not count, start programs, or
// signal, inspect or move other processes.
//
// Only listed calls are executed. Another call raises SIGSYS, which ends the process unless it is
// handled; calls that libraries try but can do without fail with ENOSYS or EPERM instead. Cannot be
// undone.
//
// To be called while the process has one thread. kUnsupported if the system has no such filters.
Status restrict_process();

// Returns the name of a system call of this machine, or its number if it has no known name.
std::string system_call_name(int number);

}  // namespace millrace::cli
