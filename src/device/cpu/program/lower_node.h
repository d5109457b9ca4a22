// How a node of the graph becomes steps: the one place that knows all families of kernels.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu {

// Adds the steps of the node that `builder` is at: by kernels that compute with the integers of
// quantised values (kernels/quantised), else by those of floating point and of moving (kernels),
// and fallback operators by accelerated or plain kernels (accelerated). kUnsupported, with the
// reason, for shapes without a kernel. May throw oneDNN's exceptions (see guarded()).
Status lower_node(Builder& builder, const graph::Node& node);

}  // namespace millrace::device::cpu
