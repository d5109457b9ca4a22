// JPEG files, by libjpeg-turbo. Internal to this folder. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "io/pictures/pixels.h"

namespace millrace::io {

// Decodes a JPEG, as it lies in the file (see orientation.h). kCorruptData, also for one that ends
// in the middle of its picture, where the decoder would fill the rest with grey; otherwise as
// allocate_pixels().
Result<Pixels> decode_jpeg(std::span<const std::byte> file, const DecodeOptions& options);

// Returns a JPEG of the picture, which has three channels, in high quality and without subsampling
// of colours. kOutOfMemory.
Result<std::vector<std::byte>> encode_jpeg(const Pixels& picture);

}  // namespace millrace::io
