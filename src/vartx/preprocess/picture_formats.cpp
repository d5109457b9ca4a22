#include "vartx/preprocess/picture_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace millrace::vartx {
namespace {

using tensor::DataType;
using ::vart::VideoFormat;
using vision::Arrangement;
using vision::ChannelOrder;
using vision::SourceFormat;
using vision::TargetFormat;

// A video format and the corresponding formats for reading and for writing, if it is supported.
struct Row {
  VideoFormat format;
  std::string_view name;
  std::optional<SourceFormat> source;
  std::optional<TargetFormat> target;
};

constexpr TargetFormat packed(ChannelOrder order, DataType type) {
  return {Arrangement::kPacked, order, type};
}
constexpr TargetFormat padded(ChannelOrder order, DataType type) {
  return {Arrangement::kPadded, order, type};
}
constexpr TargetFormat planar(ChannelOrder order, DataType type) {
  return {Arrangement::kPlanar, order, type};
}
constexpr TargetFormat grey(DataType type) {
  return {Arrangement::kGrey, ChannelOrder::kRgb, type};
}

constexpr ChannelOrder kRgb = ChannelOrder::kRgb, kBgr = ChannelOrder::kBgr;
constexpr DataType kInt8 = DataType::kInt8, kBf16 = DataType::kBf16, kFp16 = DataType::kFp16,
                   kFloat = DataType::kFloat32;

constexpr Row kRows[] = {
    {VideoFormat::Y_UV8_420, "Y_UV8_420", SourceFormat::kNv12, {}},
    {VideoFormat::RGB, "RGB", SourceFormat::kRgb, packed(kRgb, kInt8)},
    {VideoFormat::BGR, "BGR", SourceFormat::kBgr, packed(kBgr, kInt8)},
    {VideoFormat::RGBx, "RGBX", SourceFormat::kRgbx, padded(kRgb, kInt8)},
    {VideoFormat::BGRx, "BGRX", SourceFormat::kBgrx, padded(kBgr, kInt8)},
    {VideoFormat::RGBP, "RGBP", {}, planar(kRgb, kInt8)},
    {VideoFormat::BGRP, "BGRP", {}, planar(kBgr, kInt8)},
    {VideoFormat::GRAY8, "GRAY8", SourceFormat::kGrey, grey(kInt8)},
    {VideoFormat::RGB_BF16, "RGB_BF16", {}, packed(kRgb, kBf16)},
    {VideoFormat::BGR_BF16, "BGR_BF16", {}, packed(kBgr, kBf16)},
    {VideoFormat::RGBx_BF16, "RGBX_BF16", {}, padded(kRgb, kBf16)},
    {VideoFormat::BGRx_BF16, "BGRX_BF16", {}, padded(kBgr, kBf16)},
    {VideoFormat::RGBP_BF16, "RGBP_BF16", {}, planar(kRgb, kBf16)},
    {VideoFormat::BGRP_BF16, "BGRP_BF16", {}, planar(kBgr, kBf16)},
    {VideoFormat::GRAY_BF16, "GRAY_BF16", {}, grey(kBf16)},
    {VideoFormat::RGB_FP16, "RGB_FP16", {}, packed(kRgb, kFp16)},
    {VideoFormat::BGR_FP16, "BGR_FP16", {}, packed(kBgr, kFp16)},
    {VideoFormat::RGBx_FP16, "RGBX_FP16", {}, padded(kRgb, kFp16)},
    {VideoFormat::BGRx_FP16, "BGRX_FP16", {}, padded(kBgr, kFp16)},
    {VideoFormat::RGBP_FP16, "RGBP_FP16", {}, planar(kRgb, kFp16)},
    {VideoFormat::BGRP_FP16, "BGRP_FP16", {}, planar(kBgr, kFp16)},
    {VideoFormat::RGB_FLOAT, "RGB_FLOAT", {}, packed(kRgb, kFloat)},
    {VideoFormat::BGR_FLOAT, "BGR_FLOAT", {}, packed(kBgr, kFloat)},
    {VideoFormat::RGBP_FLOAT, "RGBP_FLOAT", {}, planar(kRgb, kFloat)},
    {VideoFormat::BGRP_FLOAT, "BGRP_FLOAT", {}, planar(kBgr, kFloat)},
    {VideoFormat::GRAY32_FLOAT, "GRAY32_FLOAT", {}, grey(kFloat)},
};

const Row* find(VideoFormat format) {
  const auto* row = std::ranges::find(kRows, format, &Row::format);
  return row == std::end(kRows) ? nullptr : row;
}

bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char left, unsigned char right) {
    return std::toupper(left) == std::toupper(right);
  });
}

}  // namespace

Result<SourceFormat> source_format(VideoFormat format) {
  const Row* row = find(format);
  if (row != nullptr && row->source) return *row->source;
  return invalid_argument(
      fmt::format("pictures of the format {} cannot be read", format_name(format)));
}

Result<TargetFormat> target_format(VideoFormat format) {
  const Row* row = find(format);
  if (row != nullptr && row->target) return *row->target;
  return invalid_argument(
      fmt::format("pictures of the format {} cannot be written", format_name(format)));
}

VideoFormat video_format(std::string_view name) {
  for (const Row& row : kRows)
    if (is_same(row.name, name)) return row.format;
  return VideoFormat::UNKNOWN;
}

std::string format_name(VideoFormat format) {
  const Row* row = find(format);
  return row != nullptr ? std::string(row->name) : std::to_string(static_cast<int>(format));
}

}  // namespace millrace::vartx
