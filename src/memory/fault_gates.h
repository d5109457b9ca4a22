// Gates that let fault injection refuse what a program asks for:
//   memory        shared buffers and NRT tensors; not what Millrace allocates for its own work
//   descriptors   imports and exports of file descriptors, accesses to memory whose descriptor is
//                 asked at each of them, and event descriptors of requests
// A process has one of each. Thread-safe.
#pragma once

#include <functional>

#include "base/status.h"

namespace millrace::memory {

// Decides about the next use: OK, or the failure that the program gets.
using FaultGate = std::function<Status()>;

// Replaces a gate of the process; an empty function removes it.
void set_allocation_gate(FaultGate gate);
void set_descriptor_gate(FaultGate gate);

// Return what the gate decides; OK, after one relaxed load, if there is none.
Status pass_allocation_gate();
Status pass_descriptor_gate();

}  // namespace millrace::memory
