#include "io/thumbnail.h"

#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>

#include "io/decode.h"
#include "vision/preprocess/preprocess.h"

namespace millrace::io {
namespace {

cv::Size size_within(const cv::Mat& picture, uint32_t side) {
  const int longer = std::max(picture.cols, picture.rows);
  if (longer <= static_cast<int>(side)) return picture.size();
  const auto scaled = [&](int length) {
    return std::max(1, static_cast<int>(int64_t{length} * side / longer));
  };
  return {scaled(picture.cols), scaled(picture.rows)};
}

Result<cv::Mat> shrunk(const cv::Mat& picture, uint32_t side) {
  cv::Mat small(size_within(picture, side), CV_8UC3);
  const auto width = static_cast<uint32_t>(small.cols), height = static_cast<uint32_t>(small.rows);
  const vision::TargetPicture target{
      {vision::Arrangement::kPacked, vision::ChannelOrder::kBgr, tensor::DataType::kUint8},
      width,
      height,
      {small.data},
      {small.step}};
  const vision::SourcePicture source = source_of(picture);
  MILLRACE_RETURN_IF_ERROR(vision::preprocess(source, {0, 0, source.width, source.height}, target,
                                              {0, 0, width, height},
                                              {.filter = vision::Filter::kArea})
                               .status());
  return small;
}

}  // namespace

Result<std::vector<std::byte>> png_thumbnail(const std::string& path, uint32_t side) {
  if (side == 0 || side > vision::kMaxSide)
    return invalid_argument(
        fmt::format("the side of a thumbnail is from 1 to {}", vision::kMaxSide));
  MILLRACE_ASSIGN_OR_RETURN(const cv::Mat picture, decode_file(path, 3));
  const Result<cv::Mat> small = shrunk(picture, side);
  if (!small.ok()) return small.status().with_context(path);
  std::vector<uchar> png;
  try {
    if (!cv::imencode(".png", *small, png)) return internal_error(path + ": no PNG was written");
  } catch (const cv::Exception& error) {
    return internal_error(fmt::format("{}: {}", path, error.err));
  }
  const auto bytes = std::as_bytes(std::span(png));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace millrace::io
