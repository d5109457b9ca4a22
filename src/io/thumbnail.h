// Small copies of pictures for reports. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::io {

// The picture in a file as a PNG whose longer side has at most `side` pixels; smaller ones keep
// their size. Errors as load_picture(); kInvalidArgument for a side of 0.
Result<std::vector<std::byte>> png_thumbnail(const std::string& path, uint32_t side);

}  // namespace millrace::io
