// TensorDesc: what one view of one frame of a boundary tensor looks like in memory.
//
// A model's boundary tensor has two views of the same values. The CPU view is the tensor as the
// model declares it; the HW view is the device's native form: its type is the precision the program
// was compiled for and its layout follows from rank and channels. Shapes are per frame: a program
// with batch size N takes N separate buffers of this description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/data_type.h"
#include "tensor/layout.h"

namespace millrace::tensor {

enum class Rounding : uint8_t { kUnknown = 0, kNearestEven = 1, kTowardZero = 2 };

// real = (q - zero_point) * scale. An unquantised tensor has scale 1 and zero point 0.
struct QuantParams {
  double scale = 1.0;
  int32_t zero_point = 0;
  Rounding rounding = Rounding::kUnknown;  // kUnknown converts as kNearestEven

  friend bool operator==(const QuantParams&, const QuantParams&) = default;
};

struct TensorDesc {
  std::string name;
  DataType type = DataType::kUnknown;
  Layout layout = Layout::kUnknown;
  std::vector<uint32_t> order;  // kGeneric only; as long as shape
  std::vector<uint32_t> shape;  // of this view, padding lanes included

  // Product of shape, 1 for a scalar; and that times size_of(type). SIZE_MAX where the true number
  // does not fit, so that comparing it with a buffer's size is safe.
  size_t elements() const noexcept;
  size_t bytes() const noexcept;
  // Dense C-order strides of shape, in elements.
  std::vector<uint32_t> strides() const;

  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
};

// The CPU view of a tensor: rank 4 is NCHW, anything else GENERIC with the identity order.
TensorDesc make_cpu_desc(std::string name, DataType type, std::vector<uint32_t> shape);

// The HW view that belongs to a CPU view, in `type`. Without an override: rank 4 with C <= 4 is
// HCWNC4; other rank 4 is HCWNC16 for one-byte types, else HCWNC8; anything else is GENERIC with
// the CPU view's order. An override must be a layout that this rank can have: plain layouts whose
// letters match the CPU view's dimensions (NHWC of an NCHW tensor), the HCWNC layouts for rank 4,
// or GENERIC, which then has the identity order; otherwise kInvalidArgument names tensor, rank and
// layout.
Result<TensorDesc> make_hw_desc(const TensorDesc& cpu, DataType type,
                                std::optional<Layout> layout_override = std::nullopt);

}  // namespace millrace::tensor
