// Thumbnails of pictures, for reports. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "vision/preprocess/picture.h"

namespace millrace::io {

// Returns a picture file as a PNG whose longer side has at most `side` pixels; smaller pictures
// keep their size. Fails as load_picture() does; kInvalidArgument for a side of 0 or greater than
// vision::kMaxSide.
Result<std::vector<std::byte>> png_thumbnail(const std::string& path, uint32_t side);

// Does the same for a picture in memory. kInvalidArgument as vision::check_source().
Result<std::vector<std::byte>> png_thumbnail(const vision::SourcePicture& picture, uint32_t side);

}  // namespace millrace::io
