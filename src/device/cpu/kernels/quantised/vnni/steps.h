// Steps of a program that run the loops of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"
#include "device/cpu/step.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// Where the operands of a convolution lie.
struct Buffers {
  BufferId x, y, filters, starts, biases, factors;  // the last four arranged

  std::vector<BufferId> all() const { return {x, y, filters, starts, biases, factors}; }
  ScalingView scaling(const RunState& state) const;
};

// The images of a batch one after the other, each in as many parts of rows as there are chunks.
class DepthwiseStep final : public Step {
 public:
  DepthwiseStep(const DepthwiseLayer& layer, const Buffers& buffers, BufferId padding,
                size_t images, uint32_t chunks);

  std::vector<BufferId> buffers() const override;
  Status run(const RunState& state) const noexcept override;

 private:
  const DepthwiseLayer layer_;
  const Buffers buffers_;
  const BufferId padding_;
  const size_t images_;
  const uint32_t parts_;
};

// All pixels of a batch, in as many parts.
class PointwiseStep final : public Step {
 public:
  PointwiseStep(const PointwiseLayer& layer, const Buffers& buffers, size_t pixels,
                uint32_t chunks);

  std::vector<BufferId> buffers() const override { return buffers_.all(); }
  Status run(const RunState& state) const noexcept override;

 private:
  const PointwiseLayer layer_;
  const Buffers buffers_;
  const size_t pixels_;
  const uint32_t parts_;
};

}  // namespace millrace::device::cpu::kernels::quantised::vnni
