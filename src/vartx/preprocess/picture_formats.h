// The translation of the API's video formats to the picture formats of vision/preprocess.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "vart/vart_videoframe_types.hpp"
#include "vision/preprocess/picture.h"

namespace millrace::vartx {

// Returns the format for pictures to read. kInvalidArgument for a format that cannot be read.
Result<vision::SourceFormat> source_format(::vart::VideoFormat format);

// Returns the format for pictures to write; for 8-bit formats its type is kInt8. kInvalidArgument
// for a format that cannot be written.
Result<vision::TargetFormat> target_format(::vart::VideoFormat format);

// Returns the format with a name, such as "RGBX_BF16", in upper or lower case; UNKNOWN for any
// other text.
::vart::VideoFormat video_format(std::string_view name);
// Returns the name of a format, such as "RGBX_BF16"; for a format that preprocessing does not
// support, its number.
std::string format_name(::vart::VideoFormat format);

}  // namespace millrace::vartx
