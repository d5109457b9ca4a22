// Drops the rights of a process that computes with an untrusted model: by Landlock those to change
// files, and of the capabilities all but those to read files. This is a second line of defence
// beside the seccomp filter of system calls (sandbox_filter.h).
#pragma once

#include "base/status.h"

namespace millrace::cli {

// After this call the process can change no file or folder, nor access another process through
// /proc: neither its memory nor its environment. If the kernel has no Landlock, only capabilities
// are dropped. Of root's capabilities the process keeps those that let it read any file; others
// would let it hold memory that its address space does not count. Cannot be undone.
// kUnsupported if the kernel refuses.
//
// To be called while the process has one thread.
Status restrict_rights();

}  // namespace millrace::cli
