// Reorders of RGBX images (rgbx_loops.h), as steps of a program.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cpu/steps/step.h"

namespace millrace::device::cpu::reorders::rgbx {

// Copies one image of three channels from the layout HCWNC4 to channels innermost in BF16, or to C
// order in FP32, divided into at most `chunks` parts. Returns null for other operands, for which
// oneDNN's reorder is used.
std::unique_ptr<const Step> reorder_step(const Operand& from, const Operand& to, uint32_t chunks);

}  // namespace millrace::device::cpu::reorders::rgbx
