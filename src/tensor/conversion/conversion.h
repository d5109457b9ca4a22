// Conversion between the CPU view and the HW view of one tensor.
//
// Towards the HW view, elements are permuted or blocked, padding lanes are filled with the value
// zero, and then each element is converted. Towards the CPU view, padding lanes are ignored. The
// rules for one element are the same in both directions:
//   same type            a copy, bit for bit
//   float to integer     clamp(round(x / scale) + zero_point), with scale as a float; NaN gives 0
//   integer to float     (q - zero_point) * scale
//   integer to integer   the nearest value the type has; not quantised: where the model itself
//                        declares integers, they are the quantised values already
//   float to float       widening is exact; narrowing rounds once, NaN stays NaN; overflow gives
//                        infinity, or the largest finite value when rounding toward zero
//   to BOOLEAN           1 unless the value is 0; from BOOLEAN 1 or 0; not quantised
// Float means BF16, FP16, FLOAT32 or FLOAT64; with FLOAT64 quantisation computes in double.
// Rounding is to nearest even unless QuantParams says toward zero; the rounding mode of the calling
// thread matters only where a division by scale, or FLOAT64 narrowed to FLOAT32, is inexact.
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
  // kInvalidArgument when the two descriptions cannot be views of the same tensor, naming why; or
  // when a quantised pair has a scale that is not a positive number or a zero point outside its
  // integer type. The CPU view may have any dense layout, the HW view also the HCWNC ones.
  static Result<Conversion> plan(const TensorDesc& cpu, const TensorDesc& hw,
                                 const QuantParams& quant);

  Conversion(Conversion&&) noexcept;
  Conversion& operator=(Conversion&&) noexcept;
  ~Conversion();

  // `cpu` and `hw` are buffers of at least the bytes() of their descriptions, of any alignment;
  // they must not overlap.
  void to_hw(const void* cpu, void* hw) const noexcept;
  void to_cpu(const void* hw, void* cpu) const noexcept;

 private:
  struct Plan;
  explicit Conversion(std::unique_ptr<const Plan> plan);
  std::unique_ptr<const Plan> plan_;
};

}  // namespace millrace::tensor
