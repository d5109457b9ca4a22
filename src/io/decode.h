// Decodes picture files, for the sources of this folder: callers of io see no OpenCV. Thread-safe.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>

#include "base/status.h"
#include "vision/preprocess/picture.h"

namespace millrace::io {

// 8 bits per channel: B, G and R, or grey for one channel. Never empty. Errors as load_picture().
Result<cv::Mat> decode_file(const std::string& path, uint32_t channels);

// A view of the picture, which must outlive it.
vision::SourcePicture source_of(const cv::Mat& picture);

}  // namespace millrace::io
