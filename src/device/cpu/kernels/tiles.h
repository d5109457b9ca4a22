// The matrix instructions (AMX): a process asks the system before it uses the registers of tiles.
#pragma once

namespace millrace::device::cpu::kernels {

// Whether the processor has them, MILLRACE_MAX_ISA allows them, and the system permits this process
// to use them, which it is asked once.
bool may_use_tiles();

}  // namespace millrace::device::cpu::kernels
