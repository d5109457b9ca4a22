// What the inputs and outputs of a model look like in memory.
//
// Every tensor has a CPU view, which is the tensor as the model declares it, and most have an HW
// view, which is the device's native form of the same values. A job may bind either; memory in the
// HW view is used as it is, the CPU view is converted where the device cannot take it directly.
//
// Values only: objects of these types may be read from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

enum class View : uint8_t { kCpu = 0, kHw = 1 };

enum class DataType : uint8_t {
  kUnknown = 0,
  kBoolean = 1,  // one byte, 0 or 1
  kInt8 = 2,
  kUint8 = 3,
  kInt16 = 4,
  kUint16 = 5,
  kBf16 = 6,
  kFp16 = 7,
  kInt32 = 8,
  kUint32 = 9,
  kFloat32 = 10,
  kInt64 = 11,
  kUint64 = 12,
};

// Upper-case text, for example "FLOAT32"; "UNKNOWN" for a value outside the list.
std::string_view to_string(DataType type) noexcept;
// Bytes per element; 0 for kUnknown.
size_t size_of(DataType type) noexcept;

// The plain layouts are dense in C order. HCWNC{B} has the shape [H, ceil(C/B), W, N, B]: channels
// in blocks of B, the lanes above C written as zero. kGeneric carries an order: position i of the
// shape holds dimension order[i] of the CPU view. The numbers between are those of the VART-ML API;
// no tensor of this library has them.
enum class Layout : uint8_t {
  kUnknown = 0,
  kNc = 1,
  kNch = 2,
  kNhc = 3,
  kNhw = 4,
  kNwc = 5,
  kNhwc = 6,
  kNchw = 7,
  kHcwnc4 = 12,
  kHcwnc8 = 13,
  kHcwnc16 = 14,
  kGeneric = 19,
};

// Upper-case text, for example "NCHW"; "UNKNOWN" for a value outside the list.
std::string_view to_string(Layout layout) noexcept;

// One view of one frame of a tensor.
struct ViewInfo {
  DataType type = DataType::kUnknown;
  Layout layout = Layout::kUnknown;
  std::vector<uint32_t> order;  // Layout::kGeneric only; as long as shape
  std::vector<uint32_t> shape;  // of this view, padding included
  size_t elements = 0;          // product of shape
  size_t bytes = 0;             // what memory bound in this view must hold
};

struct TensorInfo {
  std::string name;
  ViewInfo cpu;
  std::optional<ViewInfo> hw;  // none: the tensor has a CPU view only
  // real = (stored - zero_point) * scale; 1 and 0 where the tensor is not quantised.
  double scale = 1.0;
  int32_t zero_point = 0;
};

}  // namespace millrace
