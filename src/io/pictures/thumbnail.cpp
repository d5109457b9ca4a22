#include "io/pictures/thumbnail.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/pictures/decode.h"
#include "io/pictures/picture.h"
#include "io/pictures/png.h"
#include "vision/preprocess/preprocess.h"

namespace millrace::io {
namespace {

// Returns the length of a side once the longer one has `limit` pixels at most.
uint32_t scaled(uint32_t length, uint32_t longer, uint32_t limit) {
  if (longer <= limit) return length;
  return std::max(uint32_t{1}, static_cast<uint32_t>(uint64_t{length} * limit / longer));
}

Result<Pixels> shrunk(const vision::SourcePicture& source, uint32_t side) {
  const uint32_t longer = std::max(source.width, source.height);
  const uint32_t width = scaled(source.width, longer, side);
  const uint32_t height = scaled(source.height, longer, side);
  MILLRACE_ASSIGN_OR_RETURN(Pixels small,
                            allocate_pixels(width, height, 3, uint64_t{width} * height));
  const vision::TargetPicture target{
      {vision::Arrangement::kPacked, vision::ChannelOrder::kRgb, tensor::DataType::kUint8},
      width,
      height,
      {small.bytes.get()},
      {small.stride()}};
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
  MILLRACE_ASSIGN_OR_RETURN(const Pixels small, shrunk(picture, side));
  return encode_png(small);
}

Result<std::vector<std::byte>> png_thumbnail(const std::string& path, uint32_t side) {
  MILLRACE_ASSIGN_OR_RETURN(const Pixels picture,
                            decode_file(path, {3, PictureOptions().max_pixels}));
  auto png = png_thumbnail(source_of(picture), side);
  if (!png.ok()) return png.status().with_context(path);
  return png;
}

}  // namespace millrace::io
