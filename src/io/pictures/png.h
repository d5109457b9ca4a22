// PNG files, by libspng. Internal to this folder. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "io/pictures/pixels.h"

namespace millrace::io {

// Decodes a PNG of any colour type. Transparency is dropped, and of 16 bits the upper 8 are kept.
// kCorruptData; otherwise as allocate_pixels().
Result<Pixels> decode_png(std::span<const std::byte> file, const DecodeOptions& options);

// Returns a PNG of the picture, which has three channels.
Result<std::vector<std::byte>> encode_png(const Pixels& picture);

}  // namespace millrace::io
