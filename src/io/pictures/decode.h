// Decodes picture files with the library for their format. Internal to this folder. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "io/pictures/pixels.h"

namespace millrace::io {

// Decodes a file, turned as its EXIF data say. Fails as load_picture() does, with the path.
Result<Pixels> decode_file(const std::string& path, const DecodeOptions& options);

}  // namespace millrace::io
