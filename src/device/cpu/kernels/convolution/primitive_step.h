// Conv by a primitive of oneDNN, with the functions that the primitive applies to its result.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// See Implementation::lower. Takes the form that is planned for the node, or another one if oneDNN
// has no primitive for that. Returns false if it has none in any form.
Result<bool> lower_by_primitive(Builder& builder, const graph::Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels
