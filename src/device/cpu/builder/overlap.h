// Finds the collectives of a program that run beside the steps behind them.
#pragma once

#include <vector>

#include "device/cpu/builder/program_parts.h"

namespace millrace::device::cpu {

// A collective is begun (ProgramStep::is_begun), and awaited by the first later step that uses its
// memory (ProgramStep::awaits), or at the end of the frame, where there is a step between that can
// run meanwhile. Its memory is kept until then. To be called when all steps are there, and before
// the buffers are laid out.
void overlap_collectives(std::vector<ProgramStep>& steps, BufferTable& buffers);

}  // namespace millrace::device::cpu
