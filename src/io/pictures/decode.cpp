#include "io/pictures/decode.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "io/content.h"
#include "io/file.h"
#include "io/pictures/jpeg.h"
#include "io/pictures/orientation.h"
#include "io/pictures/png.h"
#include "io/pictures/uncompressed.h"
#include "io/pictures/webp.h"

namespace millrace::io {
namespace {

Result<Pixels> decode_turned_jpeg(std::span<const std::byte> file, const DecodeOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(Pixels picture, decode_jpeg(file, options));
  return oriented(std::move(picture), exif_orientation(file));
}

// The first bytes say which format it is; a format's own decoder checks the rest.
Result<Pixels> decode(const std::string& path, std::span<const std::byte> file,
                      const DecodeOptions& options) {
  using namespace std::string_view_literals;
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (bytes.starts_with("\xFF\xD8\xFF"sv)) return decode_turned_jpeg(file, options);
  if (bytes.starts_with("\x89PNG\r\n\x1A\n"sv)) return decode_png(file, options);
  if (bytes.starts_with("RIFF"sv)) return decode_webp(file, options);
  const bool is_pnm = bytes.size() > 2 && bytes[0] == 'P' && "2356"sv.find(bytes[1]) != bytes.npos;
  if (is_pnm || bytes.starts_with("BM"sv)) return load_uncompressed(path, options);
  return corrupt_data(
      fmt::format("the file is not a picture that can be decoded ({})", picture_formats()));
}

}  // namespace

Result<Pixels> decode_file(const std::string& path, const DecodeOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  Result<Pixels> picture = decode(path, bytes, options);
  if (!picture.ok()) return picture.status().with_context(path);
  return picture;
}

}  // namespace millrace::io
