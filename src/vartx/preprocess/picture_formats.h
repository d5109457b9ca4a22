// Video formats as preprocessing reads and writes them. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "vart/vart_videoframe_types.hpp"
#include "vision/preprocess/picture.h"

namespace millrace::vartx {

// kInvalidArgument where pictures of this format are not read.
Result<vision::SourceFormat> source_format(::vart::VideoFormat format);

// The 8-bit formats give kInt8. kInvalidArgument where pictures of this format are not made.
Result<vision::TargetFormat> target_format(::vart::VideoFormat format);

// The format of a name in a configuration, such as "RGBX_BF16", in upper or lower case; UNKNOWN for
// a text that is no name.
::vart::VideoFormat video_format(std::string_view name);
// "RGBX_BF16"; the number of a format that preprocessing does not know.
std::string format_name(::vart::VideoFormat format);

}  // namespace millrace::vartx
