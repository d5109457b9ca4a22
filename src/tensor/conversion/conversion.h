// Conversion between the CPU view and the HW view of one tensor.
//
// Towards the HW view, elements are permuted or blocked and then converted; padded channels get the
// converted value zero. Towards the CPU view, padded channels are ignored. The rules for one
// element are the same in both directions:
//   same type            a copy, bit for bit
//   float to integer     clamp(round(x / scale) + zero_point), with scale as a float; NaN gives 0
//   integer to float     (q - zero_point) * scale
//   integer to integer   the nearest value of the type; scale and zero point are not applied, since
//                        integers that the model itself declares are quantised values already
//   float to float       widening is exact; narrowing rounds once, NaN stays NaN; overflow gives
//                        infinity, or the largest finite value when rounding toward zero
//   to BOOLEAN           1 unless the value is 0; from BOOLEAN 1 or 0; not quantised
// Float means BF16, FP16, FLOAT32 or FLOAT64; with FLOAT64, quantisation computes in double.
// Rounding is to nearest even unless QuantParams says toward zero. The rounding mode of the calling
// thread has an effect only where arithmetic with the scale, or a conversion of an integer or of
// FLOAT64 to FLOAT32, is inexact.
//
// A Conversion is planned once and is immutable; any number of threads may run it at the same time.
// Running it allocates nothing.
#pragma once

#include <memory>

#include "base/status.h"
#include "tensor/desc.h"

namespace millrace::tensor {

class Conversion {
 public:
  // kInvalidArgument if the two descriptions cannot be views of the same tensor (the message says
  // why); or if the conversion quantises and the scale is not a positive finite value, or the zero
  // point is outside the integer type. The CPU view may have any dense layout, the HW view also an
  // HCWNC layout.
  static Result<Conversion> plan(const TensorDesc& cpu, const TensorDesc& hw,
                                 const QuantParams& quant);

  Conversion(Conversion&&) noexcept;
  Conversion& operator=(Conversion&&) noexcept;
  ~Conversion();

  // `cpu` and `hw` are buffers of at least the bytes() of their descriptions, of any alignment.
  // They must not overlap.
  void to_hw(const void* cpu, void* hw) const noexcept;
  void to_cpu(const void* hw, void* cpu) const noexcept;

 private:
  struct Plan;
  explicit Conversion(std::unique_ptr<const Plan> plan);
  std::unique_ptr<const Plan> plan_;
};

}  // namespace millrace::tensor
