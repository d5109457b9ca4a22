// Convolutions by Winograd's algorithm (loops.h), as steps of a program.
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::kernels::winograd {

inline constexpr const char* kName = "millrace:winograd";

// Whether there is such a step, if the weights are constant: for whole blocks of channels and
// filters of 3x3 taps at stride 1. In BF16 only without matrix instructions (AMX), which are
// several times as fast and need channels innermost.
bool can_compute(const Convolution& convolution);

// Whether it is the faster kernel by a simple estimate, which the rule of plans takes.
bool is_worthwhile(const Convolution& convolution);

// Returns the layout of its images.
Desc image_layout(const Dims& dims, ElementType type);

// See Implementation. The Conv may have a residual operand, which is added to, and any activation.
uint64_t time(const Convolution& convolution, const Stopwatch& stopwatch);
Result<bool> lower(Builder& builder, const graph::Node& node, const graph::Conv& op);

}  // namespace millrace::device::cpu::kernels::winograd
