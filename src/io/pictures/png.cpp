#include "io/pictures/png.h"

#include <fmt/format.h>
#include <spng.h>

#include <cstdlib>
#include <memory>
#include <span>

namespace millrace::io {
namespace {

struct FreeContext {
  void operator()(spng_ctx* context) const noexcept { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

Status no_memory() {
  return {StatusCode::kOutOfMemory, "no memory for a PNG"};
}

Status as_status(int error) {
  return error == SPNG_EMEM
             ? no_memory()
             : corrupt_data(fmt::format("the PNG is damaged (libspng: {})", spng_strerror(error)));
}

}  // namespace

Result<Pixels> decode_png(std::span<const std::byte> file, const DecodeOptions& options) {
  const Context context(spng_ctx_new(0));
  if (context == nullptr) return no_memory();
  // Texts and profiles, which are not used, may not take more memory than this.
  constexpr size_t kMaxChunk = size_t{16} << 20;
  spng_set_chunk_limits(context.get(), kMaxChunk, 2 * kMaxChunk);
  spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
  if (const int error = spng_set_png_buffer(context.get(), file.data(), file.size()); error != 0)
    return as_status(error);
  spng_ihdr header{};
  if (const int error = spng_get_ihdr(context.get(), &header); error != 0) return as_status(error);
  MILLRACE_ASSIGN_OR_RETURN(Pixels pixels,
                            allocate_pixels(header.width, header.height, 3, options.max_pixels));
  if (const int error =
          spng_decode_image(context.get(), pixels.bytes.get(), pixels.size(), SPNG_FMT_RGB8, 0);
      error != 0)
    return as_status(error);
  return options.channels == 1 ? grey_of(pixels) : Result<Pixels>(std::move(pixels));
}

Result<std::vector<std::byte>> encode_png(const Pixels& picture) {
  const Context context(spng_ctx_new(SPNG_CTX_ENCODER));
  if (context == nullptr) return no_memory();
  spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{};
  header.width = picture.width;
  header.height = picture.height;
  header.bit_depth = 8;
  header.color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  int error = spng_set_ihdr(context.get(), &header);
  if (error == 0)
    error = spng_encode_image(context.get(), picture.bytes.get(), picture.size(), SPNG_FMT_PNG,
                              SPNG_ENCODE_FINALIZE);
  if (error != 0) return as_status(error);
  size_t size = 0;
  const std::unique_ptr<void, decltype(&std::free)> file(
      spng_get_png_buffer(context.get(), &size, &error), &std::free);
  if (file == nullptr) return as_status(error);
  const auto* bytes = static_cast<const std::byte*>(file.get());
  return std::vector<std::byte>(bytes, bytes + size);
}

}  // namespace millrace::io
