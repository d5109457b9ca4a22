// The pixels of a decoded picture. Internal to this folder. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "vision/preprocess/picture.h"

namespace millrace::io {

// Rows from top to bottom without padding, 8 bits per channel: R, G and B, or grey.
struct Pixels {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 3;  // 3 or 1; within the decoder of JPEG also 4
  std::unique_ptr<uint8_t[]> bytes;

  size_t stride() const noexcept { return size_t{width} * channels; }
  size_t size() const noexcept { return stride() * height; }
};

// How a decoder has to decode a file.
struct DecodeOptions {
  uint32_t channels = 3;  // 3 for colour or 1 for grey
  // Pictures with more pixels are refused before there is memory for them, since a small file can
  // stand for gigabytes.
  uint64_t max_pixels = 0;
};

// Returns memory for a picture, uninitialised. kInvalidArgument for a side of 0 or greater than
// vision::kMaxSide, or more than `max_pixels`; kOutOfMemory.
Result<Pixels> allocate_pixels(uint64_t width, uint64_t height, uint32_t channels,
                               uint64_t max_pixels);

// Returns the luma of each pixel, 0.299 R + 0.587 G + 0.114 B, rounded to nearest. kOutOfMemory.
Result<Pixels> grey_of(const Pixels& colour);

// Returns a view of the picture, which must outlive the view.
vision::SourcePicture source_of(const Pixels& picture);

}  // namespace millrace::io
