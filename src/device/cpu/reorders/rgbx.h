// The reorders of pictures (rgbx_loops.h) as steps of a program.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cpu/steps/step.h"

namespace millrace::device::cpu::reorders::rgbx {

// Moves a picture of three channels from HCWNC4 to its channels innermost in BF16, to planes in
// FP32, divided into `chunks` at most; null for other operands, for which oneDNN's reorder is
// used.
std::unique_ptr<const Step> reorder_step(const Operand& from, const Operand& to, uint32_t chunks);

}  // namespace millrace::device::cpu::reorders::rgbx
