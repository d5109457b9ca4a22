#include "io/thumbnail.h"

#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>

#include "io/decode.h"
#include "vision/preprocess/preprocess.h"

namespace millrace::io {
namespace {

cv::Size size_within(const vision::SourcePicture& picture, uint32_t side) {
  const uint32_t longer = std::max(picture.width, picture.height);
  const auto scaled = [&](uint32_t length) {
    if (longer <= side) return static_cast<int>(length);
    return std::max(1, static_cast<int>(uint64_t{length} * side / longer));
  };
  return {scaled(picture.width), scaled(picture.height)};
}

Result<cv::Mat> shrunk(const vision::SourcePicture& source, uint32_t side) {
  cv::Mat small(size_within(source, side), CV_8UC3);
  const auto width = static_cast<uint32_t>(small.cols), height = static_cast<uint32_t>(small.rows);
  const vision::TargetPicture target{
      {vision::Arrangement::kPacked, vision::ChannelOrder::kBgr, tensor::DataType::kUint8},
      width,
      height,
      {small.data},
      {small.step}};
  MILLRACE_RETURN_IF_ERROR(vision::preprocess(source, {0, 0, source.width, source.height}, target,
                                              {0, 0, width, height},
                                              {.filter = vision::Filter::kArea})
                               .status());
  return small;
}

}  // namespace

Result<std::vector<std::byte>> png_thumbnail(const vision::SourcePicture& picture, uint32_t side) {
  if (side == 0 || side > vision::kMaxSide)
    return invalid_argument(
        fmt::format("the side of a thumbnail must be 1 to {} pixels", vision::kMaxSide));
  MILLRACE_RETURN_IF_ERROR(vision::check_source(picture, {0, 0, picture.width, picture.height}));
  try {
    MILLRACE_ASSIGN_OR_RETURN(const cv::Mat small, shrunk(picture, side));
    std::vector<uchar> png;
    if (!cv::imencode(".png", small, png)) return internal_error("no PNG was written");
    const auto bytes = std::as_bytes(std::span(png));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  } catch (const cv::Exception& error) {
    return internal_error(error.err);
  }
}

Result<std::vector<std::byte>> png_thumbnail(const std::string& path, uint32_t side) {
  MILLRACE_ASSIGN_OR_RETURN(const cv::Mat picture, decode_file(path, 3));
  auto png = png_thumbnail(source_of(picture), side);
  if (!png.ok()) return png.status().with_context(path);
  return png;
}

}  // namespace millrace::io
