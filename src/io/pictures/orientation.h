// Cameras store pictures as their sensor lies, and write into the file's EXIF data how to turn
// them. Internal to this folder. Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "io/pictures/pixels.h"

namespace millrace::io {

// Returns the tag Orientation of EXIF data, 1 to 8; 1, "as it is", if there is none. `bytes` is a
// JPEG file, or EXIF data that begins with "Exif".
int exif_orientation(std::span<const std::byte> bytes);

// Returns the picture as it has to be shown. kOutOfMemory.
Result<Pixels> oriented(Pixels picture, int orientation);

}  // namespace millrace::io
