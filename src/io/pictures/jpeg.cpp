#include "io/pictures/jpeg.h"

#include <fmt/format.h>
#include <turbojpeg.h>

#include <memory>

namespace millrace::io {
namespace {

struct Destroy {
  void operator()(void* codec) const noexcept { tjDestroy(codec); }
};
using Decoder = std::unique_ptr<void, Destroy>;
using Encoder = std::unique_ptr<void, Destroy>;

// Whether there is no end-of-image marker. Segments are skipped by their length, since they may
// contain a thumbnail with a marker of its own.
bool is_truncated(std::span<const std::byte> bytes) {
  const auto at = [&](size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  constexpr unsigned kMark = 0xFF, kStart = 0xD8, kEnd = 0xD9, kTemporary = 0x01, kRestart0 = 0xD0;
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

Status damaged(void* decoder) {
  return corrupt_data(
      fmt::format("the JPEG is damaged (libjpeg-turbo: {})", tjGetErrorStr2(decoder)));
}

// Calls the decoder. Limits the scans of a progressive picture, which can take minutes.
Status decode_into(Pixels& pixels, int format, void* decoder, std::span<const std::byte> file) {
  const auto decode = [&] {
    return tjDecompress2(decoder, reinterpret_cast<const uint8_t*>(file.data()), file.size(),
                         pixels.bytes.get(), /*width=*/0, /*pitch=*/0, /*height=*/0, format,
                         TJFLAG_LIMITSCANS);
  };
  if (decode() == 0) return {};
  // Many cameras write pictures that give warnings. But an error that follows a warning has the
  // code of a warning, too. Then rows are missing, the last one at any rate.
  if (tjGetErrorCode(decoder) == TJERR_WARNING) {
    uint8_t& last = pixels.bytes[pixels.size() - 1];
    const auto other = static_cast<uint8_t>(~last);
    last = other;
    decode();
    if (last != other) return {};
  }
  return damaged(decoder);
}

// Makes RGB of the inverted CMYK that JPEG files have.
Result<Pixels> decode_cmyk(const Pixels& size, void* decoder, std::span<const std::byte> file,
                           const DecodeOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(Pixels cmyk,
                            allocate_pixels(size.width, size.height, 4, options.max_pixels));
  MILLRACE_RETURN_IF_ERROR(decode_into(cmyk, TJPF_CMYK, decoder, file));
  MILLRACE_ASSIGN_OR_RETURN(Pixels rgb,
                            allocate_pixels(size.width, size.height, 3, options.max_pixels));
  const uint8_t* from = cmyk.bytes.get();
  uint8_t* to = rgb.bytes.get();
  for (uint64_t i = 0; i < uint64_t{size.width} * size.height; ++i, from += 4, to += 3)
    for (int channel = 0; channel < 3; ++channel)
      to[channel] = static_cast<uint8_t>((from[channel] * from[3] + 127) / 255);
  return options.channels == 1 ? grey_of(rgb) : Result<Pixels>(std::move(rgb));
}

struct Free {
  void operator()(unsigned char* bytes) const noexcept { tjFree(bytes); }
};

}  // namespace

Result<Pixels> decode_jpeg(std::span<const std::byte> file, const DecodeOptions& options) {
  if (is_truncated(file)) return corrupt_data("the file ends in the middle of its picture");
  const Decoder decoder(tjInitDecompress());
  if (decoder == nullptr) return Status(StatusCode::kOutOfMemory, "no memory for a JPEG decoder");
  int width = 0, height = 0, subsampling = -1, colours = -1;
  const int failed =
      tjDecompressHeader3(decoder.get(), reinterpret_cast<const uint8_t*>(file.data()), file.size(),
                          &width, &height, &subsampling, &colours);
  // It also fails where it has no name for the subsampling, which the decoder does not need.
  if (width < 1 || height < 1 || colours < 0)
    return failed != 0 ? damaged(decoder.get()) : corrupt_data("the JPEG has no picture");
  MILLRACE_ASSIGN_OR_RETURN(
      Pixels pixels, allocate_pixels(static_cast<uint64_t>(width), static_cast<uint64_t>(height),
                                     options.channels, options.max_pixels));
  if (colours == TJCS_CMYK || colours == TJCS_YCCK)
    return decode_cmyk(pixels, decoder.get(), file, options);
  const int format = options.channels == 1 ? TJPF_GRAY : TJPF_RGB;
  MILLRACE_RETURN_IF_ERROR(decode_into(pixels, format, decoder.get(), file));
  return pixels;
}

Result<std::vector<std::byte>> encode_jpeg(const Pixels& picture) {
  constexpr int kQuality = 92;
  const Encoder encoder(tjInitCompress());
  if (encoder == nullptr) return Status(StatusCode::kOutOfMemory, "no memory for a JPEG encoder");
  unsigned char* written = nullptr;
  unsigned long size = 0;
  const int failed =
      tjCompress2(encoder.get(), picture.bytes.get(), static_cast<int>(picture.width), /*pitch=*/0,
                  static_cast<int>(picture.height), TJPF_RGB, &written, &size, TJSAMP_444, kQuality,
                  TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, Free> file(written);
  if (failed != 0)
    return internal_error(
        fmt::format("cannot write a JPEG (libjpeg-turbo: {})", tjGetErrorStr2(encoder.get())));
  const auto* bytes = reinterpret_cast<const std::byte*>(file.get());
  return std::vector<std::byte>(bytes, bytes + size);
}

}  // namespace millrace::io
