// Formats results as text, for the configuration key "post-process-print". Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "vart/vart_inferresult.hpp"

namespace millrace::vartx {

// Returns one line for each class, box or map of a segmentation, each terminated by a newline:
//   frame 0: class 281 "tabby cat" 0.9385
//   frame 0: box 112,36 57x74 class 0 "face" 0.9376
//   frame 0: map 0 512x256
std::string result_text(uint32_t frame, ::vart::InferResult& result);

}  // namespace millrace::vartx
