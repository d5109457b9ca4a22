// Copies of images whose channels lie innermost (channels_last_loops.h), as a step of a program.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cpu/steps/step.h"

namespace millrace::device::cpu::reorders::channels_last {

// Copies an image, pixel by pixel, to another one or into some of its channels, divided into at
// most `chunks` parts. `from` may be every other channel of a wider image. Returns null for other
// operands, for which oneDNN's reorder is used.
std::unique_ptr<const Step> reorder_step(const Operand& from, const Operand& to, uint32_t chunks);

}  // namespace millrace::device::cpu::reorders::channels_last
