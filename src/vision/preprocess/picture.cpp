#include "vision/preprocess/picture.h"

#include <fmt/format.h>

#include <string_view>

namespace millrace::vision {
namespace {

using tensor::DataType;

Status check_size(std::string_view name, uint32_t width, uint32_t height) {
  if (width == 0 || height == 0 || width > kMaxSide || height > kMaxSide)
    return invalid_argument(fmt::format("the {} picture is {}x{}; sides are from 1 to {} pixels",
                                        name, width, height, kMaxSide));
  return {};
}

Status check_region(std::string_view name, const Region& region, uint32_t width, uint32_t height) {
  const auto reason = [&](std::string_view what) {
    return invalid_argument(fmt::format("the {} region {}x{} at {},{} {}, which is {}x{}", name,
                                        region.width, region.height, region.x, region.y, what,
                                        width, height));
  };
  if (region.width == 0 || region.height == 0) return reason("is empty; it belongs to the picture");
  if (region.x > width || region.width > width - region.x || region.y > height ||
      region.height > height - region.y)
    return reason("reaches beyond the picture");
  return {};
}

Status check_plane(std::string_view name, uint32_t plane, const void* data, size_t stride,
                   size_t row_bytes) {
  if (data == nullptr)
    return invalid_argument(fmt::format("plane {} of the {} picture is null", plane, name));
  if (stride < row_bytes)
    return invalid_argument(
        fmt::format("plane {} of the {} picture has a stride of {} bytes, but {} bytes per row",
                    plane, name, stride, row_bytes));
  return {};
}

bool is_target_type(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8 || type == DataType::kBf16 ||
         type == DataType::kFp16 || type == DataType::kFloat32;
}

}  // namespace

uint32_t elements_per_pixel(Arrangement arrangement) {
  if (arrangement == Arrangement::kPadded) return 4;
  return arrangement == Arrangement::kPacked ? 3 : 1;
}

uint32_t plane_count(Arrangement arrangement) {
  return arrangement == Arrangement::kPlanar ? 3 : 1;
}

uint32_t bytes_per_pixel(SourceFormat format) {
  switch (format) {
    case SourceFormat::kBgr:
    case SourceFormat::kRgb:
      return 3;
    case SourceFormat::kBgrx:
    case SourceFormat::kRgbx:
      return 4;
    case SourceFormat::kGrey:
    case SourceFormat::kNv12:
      break;
  }
  return 1;
}

Status check_source(const SourcePicture& picture, const Region& region) {
  MILLRACE_RETURN_IF_ERROR(check_size("input", picture.width, picture.height));
  const bool nv12 = picture.format == SourceFormat::kNv12;
  if (nv12 && (picture.width % 2 != 0 || picture.height % 2 != 0))
    return invalid_argument(
        fmt::format("the input picture is {}x{}; sides of NV12 are even, since two by two pixels "
                    "share a U and a V",
                    picture.width, picture.height));
  const size_t row_bytes = static_cast<size_t>(picture.width) * bytes_per_pixel(picture.format);
  for (uint32_t plane = 0; plane < (nv12 ? 2u : 1u); ++plane)
    MILLRACE_RETURN_IF_ERROR(
        check_plane("input", plane, picture.planes[plane], picture.strides[plane], row_bytes));
  return check_region("input", region, picture.width, picture.height);
}

Status check_target(const TargetPicture& picture, const Region& region) {
  MILLRACE_RETURN_IF_ERROR(check_size("output", picture.width, picture.height));
  const auto [arrangement, order, type] = picture.format;
  if (!is_target_type(type))
    return invalid_argument(
        fmt::format("the output picture cannot have elements of type {}", tensor::to_string(type)));
  const size_t row_bytes =
      static_cast<size_t>(picture.width) * elements_per_pixel(arrangement) * tensor::size_of(type);
  for (uint32_t plane = 0; plane < plane_count(arrangement); ++plane)
    MILLRACE_RETURN_IF_ERROR(
        check_plane("output", plane, picture.planes[plane], picture.strides[plane], row_bytes));
  return check_region("output", region, picture.width, picture.height);
}

}  // namespace millrace::vision
