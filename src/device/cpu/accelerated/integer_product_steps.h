// The steps around the primitive of a product of bytes (see integer_products.cpp).
#pragma once

#include <memory>
#include <optional>

#include "device/cpu/accelerated/integer_product_plan.h"
#include "device/cpu/steps/step.h"

namespace millrace::device::cpu::accelerated::integer_product {

struct FrameBuffers {
  BufferId from, to;
  std::optional<BufferId> zero;  // the zero point of x, a byte
};

// Copies images of bytes of `type` into their frame of zero points, as UINT8 with channels last.
std::unique_ptr<const Step> make_frame_step(const Shape& shape, bool is_channels_last,
                                            tensor::DataType type, const FrameBuffers& buffers);

// Copies what each window of a framed image holds into a row of a matrix.
std::unique_ptr<const Step> make_unfold_step(const Shape& shape, BufferId from, BufferId to);

// The kind of result that the sums become, and the buffers that this takes.
struct Completion {
  enum class Made { kFloats, kIntegers, kTransposedIntegers };
  Made made;
  BufferId sums, to;
  BufferId offsets, scales, biases;  // memory for one number per output channel
  std::optional<BufferId> zero, scale, bias;
  bool scale_per_channel, bias_per_channel;
};

// Brings the zero points into the sums of x, whose bytes are of `type`, and scales them where the
// result is FLOAT32.
std::unique_ptr<const Step> make_complete_step(const Plan& plan, tensor::DataType type,
                                               const Completion& completion);

}  // namespace millrace::device::cpu::accelerated::integer_product
