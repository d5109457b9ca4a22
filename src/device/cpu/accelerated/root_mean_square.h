// Root mean square normalisation of rows of FP32 or BF16 (uint16_t) elements. The instruction set
// is chosen when it is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::accelerated {

// Computes to[i] = from[i] * inverse * scale[i] for a row of `count` elements, and returns
// inverse = 1 / sqrt(mean(from[i]^2) + epsilon). The squares are summed in double, in which those
// of FP32 elements neither overflow nor vanish. `to` may be `from`. Requirement: there is an
// element.
float normalise_row(const float* from, const float* scale, float epsilon, float* to,
                    size_t count) noexcept;
float normalise_row(const uint16_t* from, const float* scale, float epsilon, uint16_t* to,
                    size_t count) noexcept;

}  // namespace millrace::device::cpu::accelerated
