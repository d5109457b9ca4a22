// YUV4MPEG2 (.y4m): video without compression, which ffmpeg and most other tools write. A line of
// text, then for each frame a line that begins with FRAME and the planes Y, U and V.
#pragma once

#include <memory>
#include <string>

#include "sources/source.hpp"

// Throws std::runtime_error with the reason for a file that is no such video or has samples other
// than 4:2:0 in 8 bits. Behind a frame that is broken there are no more.
std::unique_ptr<Source> open_y4m(const std::string& path);
