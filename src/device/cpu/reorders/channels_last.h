// Moving images whose channels lie innermost (channels_last_loops.h) as a step of a program.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cpu/steps/step.h"

namespace millrace::device::cpu::reorders::channels_last {

// Moves an image to one that lies in the same way, pixel by pixel, or into a part of the channels
// of one, divided into `chunks` at most. The first image may take every other channel of a wider
// one. Null for other operands, for which oneDNN's reorder is used.
std::unique_ptr<const Step> reorder_step(const Operand& from, const Operand& to, uint32_t chunks);

}  // namespace millrace::device::cpu::reorders::channels_last
