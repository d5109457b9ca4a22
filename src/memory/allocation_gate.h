// The allocation gate: lets fault injection refuse memory that a program asks for, that is, shared
// buffers and NRT tensors. Memory that Millrace allocates for its own work does not pass it.
//
// Thread-safe.
#pragma once

#include <functional>

#include "base/status.h"

namespace millrace::memory {

// Decides about the next allocation: OK, or the failure that the program gets.
using AllocationGate = std::function<Status()>;

// Replaces the gate of the process; an empty function removes it.
void set_allocation_gate(AllocationGate gate);

// Returns what the gate decides; OK, after one relaxed load, if there is none.
Status pass_allocation_gate();

}  // namespace millrace::memory
