// Two letters begin a BMP or a PNM, which raw numbers may by chance, so more of these is looked at.
#include "io/content.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace millrace::io {
namespace {

using namespace std::string_view_literals;

constexpr size_t kHead = 64;

struct Beginning {
  size_t offset;
  std::string_view bytes;
  Content content;
  std::string_view name;
};

constexpr std::array kBeginnings = {
    Beginning{0, "\xFF\xD8\xFF"sv, Content::kPicture, {}},
    Beginning{0, "\x89PNG\r\n\x1A\n"sv, Content::kPicture, {}},
    Beginning{8, "WEBP"sv, Content::kPicture, {}},
    Beginning{0, "\x93NUMPY"sv, Content::kArray, {}},
    Beginning{0, "GIF8"sv, Content::kUnsupported, "a GIF picture"},
    Beginning{0, "II*\0"sv, Content::kUnsupported, "a TIFF picture"},
    Beginning{0, "MM\0*"sv, Content::kUnsupported, "a TIFF picture"},
    Beginning{4, "ftyphei"sv, Content::kUnsupported, "a HEIF picture"},
    Beginning{4, "ftypmif1"sv, Content::kUnsupported, "a HEIF picture"},
    Beginning{4, "ftypavif"sv, Content::kUnsupported, "an AVIF picture"},
    Beginning{0, "\0\0\0\x0CjP  "sv, Content::kUnsupported, "a JPEG 2000 picture"},
    Beginning{0, "PK\x03\x04"sv, Content::kUnsupported, "a ZIP archive, as .npz files are"},
    Beginning{0, "%PDF-"sv, Content::kUnsupported, "a PDF document"},
};

bool is_bmp(std::span<const std::byte> head, size_t size) {
  constexpr size_t kSizeAt = 2, kHeaderAt = 14;
  uint32_t stated = 0, header = 0;
  if (head.size() < kHeaderAt + sizeof header) return false;
  std::memcpy(&stated, head.data() + kSizeAt, sizeof stated);
  std::memcpy(&header, head.data() + kHeaderAt, sizeof header);
  constexpr std::array<uint32_t, 7> kHeaders = {12, 40, 52, 56, 64, 108, 124};
  return stated <= size && std::ranges::find(kHeaders, header) != kHeaders.end();
}

// A PNM has blank space behind its two letters, and then a comment or a digit.
bool is_pnm(std::string_view text) {
  if (text.size() < 4 || "2356"sv.find(text[1]) == text.npos) return false;
  const size_t next = text.find_first_not_of(" \t\r\n", 2);
  return next != text.npos && next > 2 && "#0123456789"sv.find(text[next]) != text.npos;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Recognised recognise(std::span<const std::byte> head, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()),
                              std::min(head.size(), kHead));
  for (const Beginning& known : kBeginnings)
    if (text.size() >= known.offset && text.substr(known.offset).starts_with(known.bytes))
      return {known.content, known.name};
  if ((text.starts_with("BM") && is_bmp(head, size)) || (text.starts_with('P') && is_pnm(text)))
    return {Content::kPicture, {}};
  return {};
}

Recognised recognise_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  const auto size = std::filesystem::file_size(path, error);
  if (file == nullptr || error) return {};
  std::array<std::byte, kHead> head;
  const size_t got = std::fread(head.data(), 1, head.size(), file.get());
  return recognise(std::span(head).first(got), size);
}

std::string_view picture_formats() {
  return "JPEG, PNG, WebP, BMP, PNM";
}

}  // namespace millrace::io
