// Takes rights to files and other processes from a process that computes with an untrusted model.
// This is a second line of defence after the filter of system calls (sandbox_filter.h).
#pragma once

#include "base/status.h"

namespace millrace::cli {

// After this call the process can change no file or folder, and reach no other process by way of
// /proc: neither its memory nor its environment. It uses Landlock, and does nothing where the
// kernel has none. Of root's capabilities the process keeps those that let it read any file; others
// would let it keep memory that its address space does not count. Cannot be undone.
// kUnsupported where the kernel refuses.
//
// To be called while the process has one thread.
Status restrict_rights();

}  // namespace millrace::cli
