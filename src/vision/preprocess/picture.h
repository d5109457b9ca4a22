// Descriptions of the pictures that preprocessing reads and writes. Plain data that does not own
// the pixels.
//
// Widths, heights and regions are in pixels, strides in bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::vision {

// The longest side of a picture. With this limit, sizes and offsets within a row fit in 32 bits.
inline constexpr uint32_t kMaxSide = 65535;

struct Region {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t width = 0;
  uint32_t height = 0;
};

// The formats of source pictures, with 8-bit channels in memory order. The fourth byte of kBgrx and
// kRgbx is ignored.
//   kGrey  one channel, which is used for R, G and B
//   kNv12  a plane of Y, and a plane of interleaved U and V with one pair for every two by two
//          pixels (4:2:0); BT.601, limited range (Y 16 to 235, U and V 16 to 240)
enum class SourceFormat : uint8_t { kBgr, kRgb, kBgrx, kRgbx, kGrey, kNv12 };

struct SourcePicture {
  SourceFormat format = SourceFormat::kBgr;
  uint32_t width = 0;
  uint32_t height = 0;
  std::array<const uint8_t*, 2> planes{};  // the second only for kNv12
  std::array<size_t, 2> strides{};
};

// The memory layouts of target pictures.
//   kPacked  three channels per pixel: NHWC
//   kPadded  three channels and a zero per pixel: the layout HCWNC4 of a tensor with C <= 4
//   kPlanar  one plane per channel: NCHW
//   kGrey    one channel, the luma 0.299 R + 0.587 G + 0.114 B
enum class Arrangement : uint8_t { kPacked, kPadded, kPlanar, kGrey };
enum class ChannelOrder : uint8_t { kRgb, kBgr };

// `type` is kInt8, kUint8, kBf16, kFp16 or kFloat32.
struct TargetFormat {
  Arrangement arrangement = Arrangement::kPacked;
  ChannelOrder order = ChannelOrder::kRgb;
  tensor::DataType type = tensor::DataType::kInt8;
};

struct TargetPicture {
  TargetFormat format;
  uint32_t width = 0;
  uint32_t height = 0;
  std::array<uint8_t*, 3> planes{};  // the second and third only for kPlanar
  std::array<size_t, 3> strides{};
};

// Return the number of elements per pixel in one plane, and the number of planes.
uint32_t elements_per_pixel(Arrangement arrangement);
uint32_t plane_count(Arrangement arrangement);
// Returns the number of bytes per pixel in the first plane.
uint32_t bytes_per_pixel(SourceFormat format);

// Check a picture and the region of it that is used. kInvalidArgument, with the reason, for a side
// of 0 or greater than kMaxSide, an odd side of kNv12, a plane that is null, a stride shorter than
// a row, an unsupported element type, or a region that is empty or exceeds the picture.
Status check_source(const SourcePicture& picture, const Region& region);
Status check_target(const TargetPicture& picture, const Region& region);

}  // namespace millrace::vision
