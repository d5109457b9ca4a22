// Small copies of pictures for reports. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "vision/preprocess/picture.h"

namespace millrace::io {

// The picture in a file as a PNG whose longer side has at most `side` pixels; smaller ones keep
// their size. Errors as load_picture(); kInvalidArgument for a side of 0.
Result<std::vector<std::byte>> png_thumbnail(const std::string& path, uint32_t side);

// The same of a picture in memory, which is checked like one for preprocessing.
Result<std::vector<std::byte>> png_thumbnail(const vision::SourcePicture& picture, uint32_t side);

}  // namespace millrace::io
