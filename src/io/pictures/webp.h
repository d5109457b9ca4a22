// WebP files, by libwebp. Internal to this folder. Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "io/pictures/pixels.h"

namespace millrace::io {

// Decodes a WebP that is not animated. Transparency is dropped. kCorruptData; otherwise as
// allocate_pixels().
Result<Pixels> decode_webp(std::span<const std::byte> file, const DecodeOptions& options);

}  // namespace millrace::io
