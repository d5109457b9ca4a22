#include "vart_x_common/picture_file.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>

namespace samples {
namespace {

// True if a JPEG lacks its end marker: a decoder would fill the rest with grey. Skips segments
// by their length, since they may hold a thumbnail with an end marker of its own; behind the end
// marker of the picture a file may have anything, such as the film of a motion photo.
bool is_cut_off(const std::string& bytes) {
  const auto at = [&](size_t i) -> unsigned { return static_cast<uint8_t>(bytes[i]); };
  constexpr unsigned kMark = 0xFF, kStart = 0xD8, kEnd = 0xD9, kTemporary = 0x01, kRestart0 = 0xD0;
  if (bytes.size() < 2 || at(0) != kMark || at(1) != kStart) return false;
  for (size_t i = 2; i + 1 < bytes.size();) {
    const unsigned kind = at(i + 1);
    if (at(i) != kMark || kind == kMark) {  // compressed data, or a fill byte
      ++i;
    } else if (kind == kEnd) {
      return false;
    } else if (kind == 0 || kind == kTemporary || (kind >= kRestart0 && kind <= kStart)) {
      i += 2;  // no length: data that looks like a marker, or a marker without a segment
    } else {
      if (i + 3 >= bytes.size()) return true;
      i += 2 + (at(i + 2) << 8 | at(i + 3));
    }
  }
  return true;
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
