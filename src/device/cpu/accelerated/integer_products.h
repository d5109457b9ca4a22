// The layouts that the lowerings of products of integers want from those of their operands.
#pragma once

#include <optional>

#include "device/cpu/builder/builder.h"

namespace millrace::device::cpu::accelerated {

// The layout with channels last in which all nodes that read the bytes `id` would read them;
// nothing where one of them is no convolution of integers with a fast lowering.
std::optional<Desc> layout_of_readers(const Builder& builder, graph::ValueId id);

}  // namespace millrace::device::cpu::accelerated
