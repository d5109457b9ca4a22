#include "io/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <span>
#include <string_view>

#include "io/file.h"

namespace millrace::io {
namespace {

cv::Mat resized(const cv::Mat& picture, int width, int height) {
  if (picture.cols == width && picture.rows == height) return picture;
  const bool shrinks = width < picture.cols || height < picture.rows;
  cv::Mat result;
  cv::resize(picture, result, cv::Size(width, height), 0, 0,
             shrinks ? cv::INTER_AREA : cv::INTER_LINEAR);
  return result;
}

// More than any camera takes. A long and narrow picture grows beyond it before it is cropped.
constexpr double kMostPixels = 1 << 28;

int scaled(int side, double factor) {
  return std::max(1, static_cast<int>(std::lround(side * factor)));
}

cv::Mat cropped(const cv::Mat& picture, const PictureOptions& options) {
  const int width = static_cast<int>(options.width);
  const int height = static_cast<int>(options.height);
  const double shortest = std::min(picture.cols, picture.rows);
  const double cover = std::max(static_cast<double>(width) / picture.cols,
                                static_cast<double>(height) / picture.rows);
  const double factor = std::max(cover, options.short_side / shortest);
  if (factor * factor * picture.cols * picture.rows > kMostPixels)
    CV_Error(cv::Error::StsOutOfRange, "the picture is too long and narrow to be cropped");
  const cv::Mat large = resized(picture, std::max(width, scaled(picture.cols, factor)),
                                std::max(height, scaled(picture.rows, factor)));
  return large(cv::Rect((large.cols - width) / 2, (large.rows - height) / 2, width, height));
}

cv::Mat letterboxed(const cv::Mat& picture, const PictureOptions& options) {
  const int width = static_cast<int>(options.width);
  const int height = static_cast<int>(options.height);
  const double factor = std::min(static_cast<double>(width) / picture.cols,
                                 static_cast<double>(height) / picture.rows);
  const cv::Mat small = resized(picture, std::min(width, scaled(picture.cols, factor)),
                                std::min(height, scaled(picture.rows, factor)));
  cv::Mat result = cv::Mat::zeros(height, width, small.type());
  small.copyTo(result(
      cv::Rect((width - small.cols) / 2, (height - small.rows) / 2, small.cols, small.rows)));
  return result;
}

cv::Mat fitted(const cv::Mat& picture, const PictureOptions& options) {
  switch (options.fit) {
    case Fit::kCrop:
      return cropped(picture, options);
    case Fit::kLetterbox:
      return letterboxed(picture, options);
    case Fit::kStretch:
      break;
  }
  return resized(picture, static_cast<int>(options.width), static_cast<int>(options.height));
}

// OpenCV's interleaved BGR (or grey) bytes to normalised planes.
std::vector<float> normalised_planes(const cv::Mat& picture, const PictureOptions& options) {
  const size_t plane = static_cast<size_t>(options.height) * options.width;
  const int channels = static_cast<int>(options.channels);
  std::vector<float> planes(plane * channels);
  for (int channel = 0; channel < channels; ++channel) {
    const bool reversed = channels == 3 && options.order == ChannelOrder::kRgb;
    const int source = reversed ? 2 - channel : channel;
    float* out = planes.data() + plane * channel;
    for (int y = 0; y < picture.rows; ++y) {
      const uint8_t* row = picture.ptr<uint8_t>(y);
      for (int x = 0; x < picture.cols; ++x)
        *out++ = (static_cast<float>(row[x * channels + source]) - options.mean[channel]) *
                 options.scale[channel];
    }
  }
  return planes;
}

// Whether this begins like a JPEG, PNG, WebP, BMP or PNM. OpenCV knows more formats, some by
// libraries that are rarely used, and each of them would read whatever bytes a user has.
bool is_known_format(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("RIFF")) return bytes.size() > 12 && bytes.substr(8, 4) == "WEBP";
  if (bytes.size() > 2 && bytes[0] == 'P') return bytes[1] >= '1' && bytes[1] <= '6';
  constexpr std::string_view kStarts[] = {"\xFF\xD8\xFF"sv, "\x89PNG\r\n\x1A\n"sv, "BM"sv};
  return std::ranges::any_of(kStarts, [&](auto start) { return bytes.starts_with(start); });
}

cv::Mat decode(const std::vector<std::byte>& bytes, uint32_t channels) {
  if (!is_known_format({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) return {};
  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8U,
                        const_cast<std::byte*>(bytes.data()));
  return cv::imdecode(encoded, channels == 1 ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
}

// Whether a JPEG ends before its end marker; the decoder would fill the rest with grey. Segments
// are skipped by their length, since they may hold a thumbnail with an end marker of its own.
bool is_truncated_jpeg(std::span<const std::byte> bytes) {
  const auto at = [&](size_t i) { return std::to_integer<unsigned>(bytes[i]); };
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

}  // namespace

Result<std::vector<float>> load_picture(const std::string& path, const PictureOptions& options) {
  if (options.channels != 1 && options.channels != 3)
    return invalid_argument(
        fmt::format("{}: a picture fills 1 or 3 channels, not {}", path, options.channels));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  if (is_truncated_jpeg(bytes)) return corrupt_data(path + " ends in the middle of its picture");
  try {
    const cv::Mat picture = decode(bytes, options.channels);
    if (picture.empty())
      return corrupt_data(path +
                          " is not a picture that can be decoded (JPEG, PNG, WebP, BMP, PNM)");
    return normalised_planes(fitted(picture, options), options);
  } catch (const cv::Exception& error) {
    return corrupt_data(fmt::format("{}: {}", path, error.err));
  }
}

}  // namespace millrace::io
