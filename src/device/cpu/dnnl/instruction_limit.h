// Keeps oneDNN within the instructions that MILLRACE_MAX_ISA allows (base/max_isa.h).
#pragma once

#include "base/status.h"

namespace millrace::device::cpu {

// Once per process, before anything else is asked of oneDNN; a second call changes nothing.
// kInvalidArgument for a value that makes no sense. Where the program has used oneDNN before,
// which fixes its instructions, logs that the limit has come too late. Thread-safe.
Status limit_instructions();

}  // namespace millrace::device::cpu
