// Conversion between the CPU view and the HW view of one tensor.
//
// Towards the HW view elements are permuted or blocked first, with zero in padding lanes, then
// converted: float to integer is q = clamp(round(x / scale) + zero_point) with NaN as 0; float to
// BF16 and FP16 rounds to nearest even (or toward zero where QuantParams says so), NaN stays NaN
// and overflow gives infinity; equal types are copied bit for bit. Towards the CPU view it is the
// inverse: padding lanes are ignored, integers are dequantised, BF16 and FP16 widen exactly.
//
// A Conversion is planned once and then run any number of times, from any number of threads at the
// same time; running allocates nothing.
#pragma once

#include <memory>

#include "base/status.h"
#include "tensor/desc.h"

namespace millrace::tensor {

class Conversion {
 public:
  // kInvalidArgument when the two descriptions cannot be views of the same tensor, naming why.
  static Result<Conversion> plan(const TensorDesc& cpu, const TensorDesc& hw,
                                 const QuantParams& quant);

  Conversion(Conversion&&) noexcept;
  Conversion& operator=(Conversion&&) noexcept;
  ~Conversion();

  // `cpu` and `hw` are buffers of at least the bytes() of their descriptions, aligned to their
  // element type; they must not overlap.
  void to_hw(const void* cpu, void* hw) const noexcept;
  void to_cpu(const void* hw, void* cpu) const noexcept;

 private:
  struct Plan;
  explicit Conversion(std::unique_ptr<const Plan> plan);
  std::unique_ptr<const Plan> plan_;
};

}  // namespace millrace::tensor
