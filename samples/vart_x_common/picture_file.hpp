// Picture files.
#pragma once

#include <opencv2/core/mat.hpp>
#include <string>

namespace samples {

// The picture in BGR, 8 bits each: JPEG, PNG or what else OpenCV decodes. Throws std::runtime_error
// that names the file when it cannot be read, is no picture, is a JPEG that ends before its
// picture does, or has more rows or columns than preprocessing can address.
cv::Mat read_picture(const std::string& path);

}  // namespace samples
