// TensorDesc: the type, layout and shape of one view of a model input or output, per frame.
//
// Every input and output has up to two views of the same values. The CPU view is the tensor as the
// model declares it. The HW view is the native form of the device: its type is the precision for
// which the program was compiled, and its layout follows from the rank and the number of channels.
// Shapes are per frame: a program with batch size N takes N separate buffers of this description.
// Descriptions are plain data; the functions are thread-safe.
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

// Parameters of affine quantisation: real = (q - zero_point) * scale. A tensor that is not
// quantised has scale 1 and zero point 0.
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
  std::vector<uint32_t> shape;  // of this view, padded channels included

  // elements() is the product of the shape (1 for a scalar), and bytes() that times size_of(type).
  // Both saturate to SIZE_MAX, so comparing the result with the size of a buffer is safe.
  size_t elements() const noexcept;
  size_t bytes() const noexcept;
  // The strides of a dense tensor in C order (the last dimension has stride 1), in elements.
  std::vector<uint32_t> strides() const;

  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
};

// Describes the CPU view of a tensor: NCHW for rank 4, otherwise GENERIC with the identity order.
TensorDesc make_cpu_desc(std::string name, DataType type, std::vector<uint32_t> shape);

// Describes the HW view for a CPU view, with elements of `type`. Without an override the layout of
// rank 4 is HCWNC4 for up to 4 channels, otherwise HCWNC16 for one-byte types and HCWNC8 for all
// others; any other rank is GENERIC, with the order of the CPU view if that is GENERIC.
//
// An override must be a layout that the rank can have: a plain layout with as many letters as the
// CPU view has dimensions (such as NHWC), an HCWNC layout for rank 4, or GENERIC, which then has
// the identity order. kInvalidArgument otherwise, naming the tensor, its rank and the layout; also
// if `type` is UNKNOWN or `cpu` is inconsistent (dimensions_of()).
Result<TensorDesc> make_hw_desc(const TensorDesc& cpu, DataType type,
                                std::optional<Layout> layout_override = std::nullopt);

}  // namespace millrace::tensor
