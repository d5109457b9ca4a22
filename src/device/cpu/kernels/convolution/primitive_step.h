// Conv by a primitive of oneDNN, with the functions that the primitive applies to its result.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// In the form that is planned for the node, or another where oneDNN has no primitive for that;
// false where it has none at all. See Implementation::lower.
Result<bool> lower_by_primitive(Builder& builder, const graph::Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels
