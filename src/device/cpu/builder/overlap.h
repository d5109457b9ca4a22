// Finds the collectives of a program that run beside the steps that follow them.
#pragma once

#include <vector>

#include "device/cpu/builder/program_parts.h"

namespace millrace::device::cpu {

// Marks each collective that another step can run beside (ProgramStep::is_begun). The first later
// step that uses its memory awaits it (ProgramStep::awaits), or else the end of the frame. Its
// memory is kept until then. Requirement: all steps have been added, and the buffers are not laid
// out yet.
void overlap_collectives(std::vector<ProgramStep>& steps, BufferTable& buffers);

}  // namespace millrace::device::cpu
