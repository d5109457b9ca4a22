// Steps of a program that run the loops of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/kernels/quantised/vnni/constants.h"
#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/planar.h"
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"
#include "device/cpu/steps/step.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

// The images of a batch one after the other, each in as many parts of rows as there are chunks.
// Nothing is added to the result.
class DepthwiseStep final : public Step {
 public:
  DepthwiseStep(const DepthwiseLayer& layer, const ImageBuffers& images,
                const ConstantBuffers& constants, BufferId padding, size_t count, uint32_t chunks);

  std::vector<BufferId> buffers() const override;
  Status run(const RunState& state) const noexcept override;

 private:
  const DepthwiseLayer layer_;
  const ImageBuffers images_;
  const ConstantBuffers constants_;
  const BufferId padding_;
  const size_t count_;  // of images
  const uint32_t parts_;
};

// All pixels of a batch, in as many parts.
class PointwiseStep final : public Step {
 public:
  PointwiseStep(const PointwiseLayer& layer, const ImageBuffers& images,
                const ConstantBuffers& constants, size_t pixels, uint32_t chunks);

  std::vector<BufferId> buffers() const override;
  Status run(const RunState& state) const noexcept override;

 private:
  const PointwiseLayer layer_;
  const ImageBuffers images_;
  const ConstantBuffers constants_;
  const size_t pixels_;
  const uint32_t parts_;
};

// As DepthwiseStep; each part has scratch of its own.
class PlanarStep final : public Step {
 public:
  struct Buffers {
    ImageBuffers images;
    std::optional<ConstantBuffers> pointwise;
    ConstantBuffers depthwise;
    BufferId scratch;  // PlanarLayer::scratch_bytes() for each part
  };
  PlanarStep(const PlanarLayer& layer, const Buffers& buffers, size_t count, uint32_t parts);

  std::vector<BufferId> buffers() const override;
  Status run(const RunState& state) const noexcept override;

 private:
  const PlanarLayer layer_;
  const Buffers buffers_;
  const size_t count_;  // of images
  const uint32_t parts_;
};

}  // namespace millrace::device::cpu::kernels::quantised::vnni
