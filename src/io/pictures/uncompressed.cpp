#include "io/pictures/uncompressed.h"

#include <fmt/format.h>
#include <turbojpeg.h>

#include <cstring>
#include <memory>

namespace millrace::io {

Result<Pixels> load_uncompressed(const std::string& path, const DecodeOptions& options) {
  int width = 0, height = 0, format = TJPF_RGB;
  const std::unique_ptr<uint8_t, decltype(&tjFree)> loaded(
      tjLoadImage(path.c_str(), &width, /*align=*/1, &height, &format, /*flags=*/0), &tjFree);
  if (loaded == nullptr)
    return corrupt_data(
        fmt::format("the BMP or PNM is damaged or of a kind that is not read "
                    "(libjpeg-turbo: {})",
                    tjGetErrorStr2(nullptr)));
  MILLRACE_ASSIGN_OR_RETURN(
      Pixels pixels, allocate_pixels(static_cast<uint64_t>(width), static_cast<uint64_t>(height), 3,
                                     options.max_pixels));
  std::memcpy(pixels.bytes.get(), loaded.get(), pixels.size());
  return options.channels == 1 ? grey_of(pixels) : Result<Pixels>(std::move(pixels));
}

}  // namespace millrace::io
