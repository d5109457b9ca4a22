// reduce(): reduces the operands of several ranks, element by element.
#pragma once

#include <cstddef>
#include <span>

#include "ranks/element.h"

namespace millrace::ranks {

// output[i] becomes the reduction of operands[r][i] over all ranks r, in the fixed tree that
// ranks/communicator.h describes. All have `count` elements; the output may be one of the operands.
// The pointers need not be aligned.
void reduce(std::span<const std::byte* const> operands, std::byte* output, size_t count,
            Element element, Reduction reduction) noexcept;

}  // namespace millrace::ranks
