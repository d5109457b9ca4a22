#include "vision/preprocess/source_rows.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace millrace::vision {
namespace {

// Gathers pairs of pixels of kBytes bytes. A pair is copied by one load of kPairBytes, which
// includes bytes that follow it; near the end of the row, where the load would exceed the row, the
// two pixels are copied separately. Since offsets ascend, these are the last ones.
template <size_t kBytes>
void gather_pairs(const uint8_t* row, size_t row_bytes, std::span<const uint32_t> offsets,
                  uint8_t* to) {
  const auto reaches_beyond = [&](uint32_t offset) { return offset + kPairBytes > row_bytes; };
  const auto beyond = std::ranges::partition_point(offsets, std::not_fn(reaches_beyond));
  const auto within = static_cast<size_t>(beyond - offsets.begin());
#pragma GCC unroll 8
  for (size_t i = 0; i < within; ++i)
    std::memcpy(to + kPairBytes * i, row + offsets[i], kPairBytes);
  for (size_t i = within; i < offsets.size(); ++i) {
    const size_t neighbour = std::min(offsets[i] + kBytes, row_bytes - kBytes);
    std::memcpy(to + kPairBytes * i, row + offsets[i], kBytes);
    std::memcpy(to + kPairBytes * i + kBytes, row + neighbour, kBytes);
  }
}

}  // namespace

SourceRows::SourceRows(const SourcePicture& picture, size_t most_pixels) : picture_(picture) {
  if (picture.format != SourceFormat::kNv12) return;
  for (auto& row : yuv_) row = RowBuffer<uint8_t>(most_pixels);
  for (auto& row : rgb_) row = RowBuffer<uint8_t>(kLanes * most_pixels);
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

size_t SourceRows::pair_pixel_bytes(SourceFormat format) {
  return format == SourceFormat::kNv12 ? kLanes : bytes_per_pixel(format);
}

void SourceRows::gather(uint32_t y, std::span<const uint32_t> offsets, RowBuffer<uint8_t>& to) {
  if (picture_.format == SourceFormat::kNv12)
    gather_nv12(y, offsets, to.data());
  else
    gather_packed(y, offsets, to.data());
}

void SourceRows::gather_packed(uint32_t y, std::span<const uint32_t> offsets, uint8_t* to) const {
  const uint8_t* row = picture_.planes[0] + y * picture_.strides[0];
  const size_t pixel_bytes = bytes_per_pixel(picture_.format);
  const size_t row_bytes = pixel_bytes * picture_.width;
  switch (pixel_bytes) {
    case 1:
      return gather_pairs<1>(row, row_bytes, offsets, to);
    case 3:
      return gather_pairs<3>(row, row_bytes, offsets, to);
    default:
      return gather_pairs<4>(row, row_bytes, offsets, to);
  }
}

void SourceRows::gather_nv12(uint32_t y, std::span<const uint32_t> offsets, uint8_t* to) {
  const uint32_t last = picture_.width - 1;
  const auto here = [&](size_t i) { return offsets[i]; };
  const auto next = [&](size_t i) { return std::min(offsets[i] + 1, last); };
  convert_columns(y, offsets.size(), here, rgb_[0].data());
  convert_columns(y, offsets.size(), next, rgb_[1].data());
  for (size_t i = 0; i < offsets.size(); ++i) {
    std::memcpy(to + kPairBytes * i, rgb_[0].data() + kLanes * i, kLanes);
    std::memcpy(to + kPairBytes * i + kLanes, rgb_[1].data() + kLanes * i, kLanes);
  }
}

void SourceRows::convert(uint32_t y, uint32_t begin, uint32_t end, RowBuffer<uint8_t>& to) {
  const auto column = [&](size_t i) { return begin + static_cast<uint32_t>(i); };
  convert_columns(y, end - begin, column, to.data());
}

template <class Column>
void SourceRows::convert_columns(uint32_t y, size_t count, const Column& column, uint8_t* to) {
  const uint8_t* luma = picture_.planes[0] + y * picture_.strides[0];
  const uint8_t* chroma = picture_.planes[1] + y / 2 * picture_.strides[1];
  for (size_t i = 0; i < count; ++i) {
    const uint32_t x = column(i);
    yuv_[0].data()[i] = luma[x];
    yuv_[1].data()[i] = chroma[x & ~1u];
    yuv_[2].data()[i] = chroma[x | 1u];
  }
  kernels().yuv_to_rgb(yuv_[0].data(), yuv_[1].data(), yuv_[2].data(), count, to);
}

}  // namespace millrace::vision
