#include "io/decode.h"

#include <fmt/format.h>
#include <webp/decode.h>

#include <algorithm>
#include <cctype>
#include <opencv2/imgcodecs.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "io/file.h"

namespace millrace::io {
namespace {

// True if libwebp accepts the header, of as many bytes as OpenCV passes to it for the same test.
bool is_webp(std::string_view bytes) {
  constexpr size_t kHeaderSize = 32;
  WebPBitstreamFeatures features;
  return bytes.size() >= kHeaderSize &&
         WebPGetFeatures(reinterpret_cast<const uint8_t*>(bytes.data()), kHeaderSize, &features) ==
             VP8_STATUS_OK;
}

// True if the file begins like a JPEG, PNG, WebP, BMP or PNM. The other formats of OpenCV are
// excluded, since some of their decoders are rarely used libraries that abort on malformed files. A
// file that passes here must also pass OpenCV's own test for the same format: a file that fails
// that test, such as a WebP with a malformed header, would be tried as all other formats.
bool is_known_format(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("RIFF")) return is_webp(bytes);
  if (bytes.size() > 2 && bytes[0] == 'P')
    return bytes[1] >= '1' && bytes[1] <= '6' && std::isspace(static_cast<unsigned char>(bytes[2]));
  constexpr std::string_view kStarts[] = {"\xFF\xD8\xFF"sv, "\x89PNG\r\n\x1A\n"sv, "BM"sv};
  return std::ranges::any_of(kStarts, [&](auto start) { return bytes.starts_with(start); });
}

cv::Mat decode(const std::vector<std::byte>& bytes, uint32_t channels) {
  if (!is_known_format({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) return {};
  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8U,
                        const_cast<std::byte*>(bytes.data()));
  return cv::imdecode(encoded, channels == 1 ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
}

// True if a JPEG has no end-of-image marker. The decoder would fill the missing part with grey.
// Segments are skipped by their length, since they may contain a thumbnail with a marker of its
// own.
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
      i += 2;  // an escaped 0xFF in compressed data, or a marker without a segment
    } else {
      if (i + 3 >= bytes.size()) return true;
      i += 2 + (at(i + 2) << 8 | at(i + 3));
    }
  }
  return true;
}

}  // namespace

Result<cv::Mat> decode_file(const std::string& path, uint32_t channels) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  if (is_truncated_jpeg(bytes)) return corrupt_data(path + " ends in the middle of its picture");
  try {
    cv::Mat picture = decode(bytes, channels);
    if (picture.empty())
      return corrupt_data(path +
                          " is not a picture that can be decoded (JPEG, PNG, WebP, BMP, PNM)");
    return picture;
  } catch (const cv::Exception& error) {
    return corrupt_data(fmt::format("{}: {}", path, error.err));
  }
}

vision::SourcePicture source_of(const cv::Mat& picture) {
  return {picture.channels() == 1 ? vision::SourceFormat::kGrey : vision::SourceFormat::kBgr,
          static_cast<uint32_t>(picture.cols),
          static_cast<uint32_t>(picture.rows),
          {picture.data},
          {picture.step}};
}

}  // namespace millrace::io
