// Pictures in memory as preprocessing reads and writes them. Plain data without ownership; to be
// read from several threads.
//
// Units: width, height and regions count pixels, strides count bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::vision {

// The longest side of a picture. Sizes, strides and offsets of a row fit 32 bits with it.
inline constexpr uint32_t kMaxSide = 65535;

struct Region {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t width = 0;
  uint32_t height = 0;
};

// Channels of 8 bits in memory order; the fourth byte of kBgrx and kRgbx is ignored.
//   kGrey  stands for R = G = B
//   kNv12  a plane of Y, and one of interleaved U and V for every two by two pixels; BT.601 in
//          limited range (Y 16 to 235, U and V 16 to 240)
enum class SourceFormat : uint8_t { kBgr, kRgb, kBgrx, kRgbx, kGrey, kNv12 };

struct SourcePicture {
  SourceFormat format = SourceFormat::kBgr;
  uint32_t width = 0;
  uint32_t height = 0;
  std::array<const uint8_t*, 2> planes{};  // the second for kNv12 only
  std::array<size_t, 2> strides{};
};

//   kPacked  three channels per pixel
//   kPadded  three channels and a lane of value 0: the layout HCWNC4 of a tensor with C <= 4
//   kPlanar  one plane per channel: the layout NCHW
//   kGrey    the luma 0.299 R + 0.587 G + 0.114 B
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
  std::array<uint8_t*, 3> planes{};  // the second and third for kPlanar only
  std::array<size_t, 3> strides{};
};

// Elements of one pixel in one plane, and the number of planes.
uint32_t elements_per_pixel(Arrangement arrangement);
uint32_t plane_count(Arrangement arrangement);
// Bytes of one pixel in the first plane.
uint32_t bytes_per_pixel(SourceFormat format);

// kInvalidArgument with the reason: a side of 0 or above kMaxSide, an odd side of kNv12, a plane
// that is null, a stride shorter than a row, a type or a region that does not fit.
Status check_source(const SourcePicture& picture, const Region& region);
Status check_target(const TargetPicture& picture, const Region& region);

}  // namespace millrace::vision
