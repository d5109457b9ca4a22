// Decodes picture files with OpenCV. Internal to this folder, so that callers of io do not depend
// on OpenCV. Thread-safe.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>

#include "base/status.h"
#include "vision/preprocess/picture.h"

namespace millrace::io {

// Decodes a file to 8 bits per channel: B, G and R, or grey if `channels` is 1. The result is never
// empty. Fails as load_picture() does.
Result<cv::Mat> decode_file(const std::string& path, uint32_t channels);

// Returns a view of the picture, which must outlive the view.
vision::SourcePicture source_of(const cv::Mat& picture);

}  // namespace millrace::io
