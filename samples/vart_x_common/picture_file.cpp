#include "vart_x_common/picture_file.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>

namespace samples {
namespace {

// Of a JPEG without its end the decoder would fill the rest with grey. A thumbnail, which has an
// end of its own, stands before the last scan.
bool is_cut_off(const std::string& bytes) {
  const bool is_jpeg = bytes.compare(0, 2, "\xFF\xD8") == 0;
  const size_t last_scan = bytes.rfind("\xFF\xDA");
  const size_t last_end = bytes.rfind("\xFF\xD9");
  if (!is_jpeg || last_scan == std::string::npos) return false;
  return last_end == std::string::npos || last_end < last_scan;
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be opened");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

cv::Mat read_picture(const std::string& path) {
  std::string bytes = read_bytes(path);
  if (is_cut_off(bytes)) throw std::runtime_error(path + " ends in the middle of its picture");
  cv::Mat picture;
  if (!bytes.empty()) {
    const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8U, bytes.data());
    picture = cv::imdecode(encoded, cv::IMREAD_COLOR);
  }
  if (picture.empty()) throw std::runtime_error(path + " is no picture that can be read");
  constexpr int kLargest = std::numeric_limits<uint16_t>::max();
  if (picture.cols > kLargest || picture.rows > kLargest)
    throw std::runtime_error(path + " has more than " + std::to_string(kLargest) +
                             " rows or columns");
  return picture;
}

}  // namespace samples
