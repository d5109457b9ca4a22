// Convolutions by Winograd's algorithm (loops.h) as steps of a program.
#pragma once

#include <optional>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/kernels/winograd/loops.h"

namespace millrace::device::cpu::kernels::winograd {

// Whether there is such a step: for images of whole blocks of channels, filters of 3x3 taps at
// stride 1. Their weights must be constants, besides. In BF16, where the processor has no matrix
// instructions (AMX), which are several times as fast and want channels innermost.
bool can_compute(const Convolution& convolution);

// Whether it is the faster kernel by a simple estimate, where nothing was measured.
bool is_worthwhile(const Convolution& convolution);

// The layout of its images.
Desc image_layout(const Dims& dims, ElementType type);

// Returns the geometry of one image of the batch, with the tiles that the estimate finds faster.
// Requirement: can_compute().
Geometry geometry_of(const Convolution& convolution);

// Number of parts, at most `chunks`, that an operator is divided into. Each has its own scratch.
uint32_t parts_with_scratch(const Geometry& geometry, uint32_t chunks);
// Runs one image, with the lanes that help the job. `work` is all of it, and its scratch is that of
// `chunks` parts. Number: float, or uint16_t.
template <class Number>
void run_divided(const RunState& state, const Geometry& geometry, const Finish& finish,
                 uint32_t chunks, const Work<Number>& work) noexcept;

// Operands of a step; images are in image_layout().
struct Operands {
  BufferId x = 0;
  graph::ValueId weight = graph::kNoValue;  // a constant
  std::optional<BufferId> bias;             // one number for each channel of y
  BufferId y = 0;
  bool adds = false;  // to what y holds
};
void add_step(Builder& builder, const Convolution& convolution, const Operands& operands,
              const Bounds& bounds);

}  // namespace millrace::device::cpu::kernels::winograd
