#include "io/pictures/webp.h"

#include <webp/decode.h>

namespace millrace::io {

Result<Pixels> decode_webp(std::span<const std::byte> file, const DecodeOptions& options) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes, file.size(), &features) != VP8_STATUS_OK)
    return corrupt_data("the header of the WebP is malformed");
  if (features.has_animation != 0) return corrupt_data("animated WebP files are not decoded");
  MILLRACE_ASSIGN_OR_RETURN(Pixels pixels, allocate_pixels(static_cast<uint64_t>(features.width),
                                                           static_cast<uint64_t>(features.height),
                                                           3, options.max_pixels));
  if (WebPDecodeRGBInto(bytes, file.size(), pixels.bytes.get(), pixels.size(),
                        static_cast<int>(pixels.stride())) == nullptr)
    return corrupt_data("the data of the WebP is malformed, or there is no memory to decode it");
  return options.channels == 1 ? grey_of(pixels) : Result<Pixels>(std::move(pixels));
}

}  // namespace millrace::io
