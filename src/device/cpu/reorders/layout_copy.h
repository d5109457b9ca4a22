// The step in place of reorders that oneDNN does wrong (dnnl/reorder.h).
#pragma once

#include <memory>

#include "device/cpu/steps/step.h"

namespace millrace::device::cpu::reorders {

// Returns a step that runs a LayoutCopy; the same requirement.
std::unique_ptr<const Step> layout_copy_step(const Operand& from, const Operand& to);

}  // namespace millrace::device::cpu::reorders
