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

// Runs the images of a batch one after the other, each divided by rows into a part for each chunk.
// It adds no residual.
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

// Runs all pixels of a batch, divided into a part for each chunk.
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

// Divided like DepthwiseStep; each part has its own scratch memory.
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
