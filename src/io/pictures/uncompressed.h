// BMP, PPM and PGM files, by libjpeg-turbo. Internal to this folder. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "io/pictures/pixels.h"

namespace millrace::io {

// Loads a BMP of 8, 24 or 32 bits per pixel without compression, a PPM or a PGM. kCorruptData;
// otherwise as allocate_pixels().
Result<Pixels> load_uncompressed(const std::string& path, const DecodeOptions& options);

}  // namespace millrace::io
