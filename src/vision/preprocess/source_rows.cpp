#include "vision/preprocess/source_rows.h"

#include <cstring>

namespace millrace::vision {
namespace {

// Copies four bytes per pixel, of which those behind the pixel itself are of no use. They must not
// lie behind the row: the last pixels are copied without.
template <size_t kBytes>
void gather_pixels(const uint8_t* row, size_t width, std::span<const uint32_t> columns,
                   uint8_t* to) {
  const size_t row_bytes = width * kBytes;
  size_t i = 0;
  for (; i < columns.size() && columns[i] * kBytes + kLanes <= row_bytes; ++i)
    std::memcpy(to + kLanes * i, row + columns[i] * kBytes, kLanes);
  for (; i < columns.size(); ++i) std::memcpy(to + kLanes * i, row + columns[i] * kBytes, kBytes);
}

}  // namespace

SourceRows::SourceRows(const SourcePicture& picture, size_t most_pixels) : picture_(picture) {
  if (picture.format == SourceFormat::kNv12)
    for (auto& row : yuv_) row = RowBuffer<uint8_t>(most_pixels);
}

std::array<uint8_t, 3> SourceRows::rgb_lanes(SourceFormat format) {
  switch (format) {
    case SourceFormat::kBgr:
    case SourceFormat::kBgrx:
      return {2, 1, 0};
    case SourceFormat::kGrey:
      return {0, 0, 0};
    case SourceFormat::kRgb:
    case SourceFormat::kRgbx:
    case SourceFormat::kNv12:
      break;
  }
  return {0, 1, 2};
}

void SourceRows::gather(uint32_t y, std::span<const uint32_t> columns, RowBuffer<uint8_t>& to) {
  if (picture_.format == SourceFormat::kNv12)
    gather_nv12(y, columns, to.data());
  else
    gather_packed(y, columns, to.data());
}

void SourceRows::gather_packed(uint32_t y, std::span<const uint32_t> columns, uint8_t* to) const {
  const uint8_t* row = picture_.planes[0] + y * picture_.strides[0];
  switch (bytes_per_pixel(picture_.format)) {
    case 1:
      return gather_pixels<1>(row, picture_.width, columns, to);
    case 3:
      return gather_pixels<3>(row, picture_.width, columns, to);
    default:
      return gather_pixels<4>(row, picture_.width, columns, to);
  }
}

void SourceRows::gather_nv12(uint32_t y, std::span<const uint32_t> columns, uint8_t* to) {
  const uint8_t* luma = picture_.planes[0] + y * picture_.strides[0];
  const uint8_t* chroma = picture_.planes[1] + y / 2 * picture_.strides[1];
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint32_t column = columns[i];
    yuv_[0].data()[i] = luma[column];
    yuv_[1].data()[i] = chroma[column & ~1u];
    yuv_[2].data()[i] = chroma[column | 1u];
  }
  kernels().yuv_to_rgb(yuv_[0].data(), yuv_[1].data(), yuv_[2].data(), columns.size(), to);
}

}  // namespace millrace::vision
