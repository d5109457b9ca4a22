// The types, layouts and shapes of a model's inputs and outputs.
//
// Every tensor has a CPU view, which is the tensor as the model declares it, and most have an HW
// view, which has the native type and layout of the device. A job may bind either; memory in the HW
// view is used directly, and the CPU view is converted if the device does not accept it.
//
// These are plain values, which may be read from several threads. Every layer of Millrace uses this
// header; it is also part of the native API.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

enum class View : uint8_t { kCpu = 0, kHw = 1 };

// X(enumerator, number, text, bytes per element). A BOOLEAN takes one byte, 0 or 1. The numbers up
// to UINT64 are those of the VART-ML API; archives store them.
#define MILLRACE_DATA_TYPES(X)  \
  X(kUnknown, 0, "UNKNOWN", 0)  \
  X(kBoolean, 1, "BOOLEAN", 1)  \
  X(kInt8, 2, "INT8", 1)        \
  X(kUint8, 3, "UINT8", 1)      \
  X(kInt16, 4, "INT16", 2)      \
  X(kUint16, 5, "UINT16", 2)    \
  X(kBf16, 6, "BF16", 2)        \
  X(kFp16, 7, "FP16", 2)        \
  X(kInt32, 8, "INT32", 4)      \
  X(kUint32, 9, "UINT32", 4)    \
  X(kFloat32, 10, "FLOAT32", 4) \
  X(kInt64, 11, "INT64", 8)     \
  X(kUint64, 12, "UINT64", 8)   \
  X(kFloat64, 13, "FLOAT64", 8)

enum class DataType : uint8_t {
#define MILLRACE_X(enumerator, number, text, bytes) enumerator = number,
  MILLRACE_DATA_TYPES(MILLRACE_X)
#undef MILLRACE_X
};

// Returns the text of the list, for example "FLOAT32"; "UNKNOWN" for a value outside it.
std::string_view to_string(DataType type) noexcept;
// Returns the bytes per element; 0 for kUnknown and for a value outside the list.
size_t size_of(DataType type) noexcept;

// The plain layouts are dense in C order. The device's native blocked layout HCWNC{B} (B = 4, 8 or
// 16 channels per block) has the shape [H, ceil(C/B), W, N, B]: element (n, c, h, w) is at index
//   (((h * Cb + c / B) * W + w) * N + n) * B + c % B        with Cb = ceil(C/B)
// and the channels from C on in the last block are padding, written as zero, or as the zero point
// if the tensor is quantised. GENERIC has an order: position i of the shape holds dimension
// order[i] of the CPU view. The grouped layouts (NHWC4 to NC8HW8, NHW16C4WC to NH2C4HWC) have
// numbers and names only: no tensor of Millrace has one.
//
// X(enumerator, number, text). The numbers are those of the newer VART-ML API; archives store them.
#define MILLRACE_LAYOUTS(X)      \
  X(kUnknown, 0, "UNKNOWN")      \
  X(kNc, 1, "NC")                \
  X(kNch, 2, "NCH")              \
  X(kNhc, 3, "NHC")              \
  X(kNhw, 4, "NHW")              \
  X(kNwc, 5, "NWC")              \
  X(kNhwc, 6, "NHWC")            \
  X(kNchw, 7, "NCHW")            \
  X(kNhwc4, 8, "NHWC4")          \
  X(kNhwc8, 9, "NHWC8")          \
  X(kNc4hw4, 10, "NC4HW4")       \
  X(kNc8hw8, 11, "NC8HW8")       \
  X(kHcwnc4, 12, "HCWNC4")       \
  X(kHcwnc8, 13, "HCWNC8")       \
  X(kHcwnc16, 14, "HCWNC16")     \
  X(kNhw16c4wc, 15, "NHW16C4WC") \
  X(kNhw16wc4c, 16, "NHW16WC4C") \
  X(kNh2hwc4c, 17, "NH2HWC4C")   \
  X(kNh2c4hwc, 18, "NH2C4HWC")   \
  X(kGeneric, 19, "GENERIC")

enum class Layout : uint8_t {
#define MILLRACE_X(enumerator, number, text) enumerator = number,
  MILLRACE_LAYOUTS(MILLRACE_X)
#undef MILLRACE_X
};

// Returns the text of the list, for example "NCHW"; "UNKNOWN" for a value outside it.
std::string_view to_string(Layout layout) noexcept;

// An open (dynamic) dimension, whose size each job determines: that of an input by the shape that
// the job binds (TensorArg::shape), that of an output by its computation.
inline constexpr uint32_t kOpenDimension = 0xffffffffu;

// The dimensions of one tensor of one job.
struct TensorShape {
  static constexpr size_t kMaxRank = 8;
  uint32_t rank = 0;
  std::array<uint32_t, kMaxRank> dims = {};  // only the first `rank` are used

  friend bool operator==(const TensorShape&, const TensorShape&) = default;
};

// One view of one frame of a tensor.
struct ViewInfo {
  DataType type = DataType::kUnknown;
  Layout layout = Layout::kUnknown;
  std::vector<uint32_t> order;  // only for Layout::kGeneric; as long as `shape`
  std::vector<uint32_t> shape;  // of this view, with padding; kOpenDimension for open dimensions
  size_t elements = 0;          // product of `shape`; 0 if a dimension is open
  size_t bytes = 0;             // the minimum size of memory bound in this view; 0 if open
  bool is_open = false;         // whether each job determines a dimension, or the rank
};

struct TensorInfo {
  std::string name;
  ViewInfo cpu;
  std::optional<ViewInfo> hw;  // not set if the tensor has a CPU view only
  // real = (stored - zero_point) * scale. They are 1 and 0 if the tensor is not quantised.
  double scale = 1.0;
  int32_t zero_point = 0;
};

}  // namespace millrace
