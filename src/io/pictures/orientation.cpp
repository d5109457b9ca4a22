#include "io/pictures/orientation.h"

#include <libexif/exif-data.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace millrace::io {

int exif_orientation(std::span<const std::byte> bytes) {
  const std::unique_ptr<ExifData, decltype(&exif_data_unref)> data(
      exif_data_new_from_data(reinterpret_cast<const unsigned char*>(bytes.data()),
                              static_cast<unsigned>(bytes.size())),
      &exif_data_unref);
  if (data == nullptr) return 1;
  const ExifEntry* entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->components < 1) return 1;
  const int orientation = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

Result<Pixels> oriented(Pixels picture, int orientation) {
  if (orientation == 1) return picture;
  const auto is_one_of = [&](std::initializer_list<int> values) {
    return std::ranges::find(values, orientation) != values.end();
  };
  // The result is the picture, transposed if need be, with columns and rows of the original
  // counted from the other end.
  const bool transposed = orientation >= 5;
  const bool flips_x = is_one_of({2, 3, 7, 8}), flips_y = is_one_of({3, 4, 6, 7});
  Pixels result;
  MILLRACE_ASSIGN_OR_RETURN(
      result, allocate_pixels(transposed ? picture.height : picture.width,
                              transposed ? picture.width : picture.height, picture.channels,
                              uint64_t{picture.width} * picture.height));
  uint8_t* to = result.bytes.get();
  for (uint32_t y = 0; y < result.height; ++y) {
    for (uint32_t x = 0; x < result.width; ++x, to += picture.channels) {
      uint32_t column = transposed ? y : x, row = transposed ? x : y;
      if (flips_x) column = picture.width - 1 - column;
      if (flips_y) row = picture.height - 1 - row;
      const uint8_t* from =
          picture.bytes.get() + row * picture.stride() + column * picture.channels;
      std::copy_n(from, picture.channels, to);
    }
  }
  return result;
}

}  // namespace millrace::io
