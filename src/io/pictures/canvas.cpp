#include "io/pictures/canvas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "io/pictures/decode.h"
#include "io/pictures/font.h"
#include "io/pictures/jpeg.h"
#include "io/pictures/picture.h"
#include "io/pictures/png.h"

namespace millrace::io {
namespace {

struct Colour {
  uint8_t red, green, blue;
};

constexpr std::array kColours = {Colour{255, 64, 64},  Colour{64, 200, 64},  Colour{64, 128, 255},
                                 Colour{255, 200, 0},  Colour{255, 96, 255}, Colour{0, 210, 210},
                                 Colour{255, 140, 32}, Colour{176, 112, 255}};
constexpr Colour kInk{0, 0, 0};
constexpr double kFar = 1e6;  // farther than any pixel

// Whole pixels: columns from `left` to before `right`, rows likewise.
struct Area {
  int64_t left, top, right, bottom;
};

void fill(Pixels& pixels, Area area, Colour colour) {
  const auto within = [](int64_t at, uint32_t length) {
    return static_cast<uint32_t>(std::clamp<int64_t>(at, 0, length));
  };
  const uint32_t left = within(area.left, pixels.width), right = within(area.right, pixels.width);
  for (uint32_t y = within(area.top, pixels.height); y < within(area.bottom, pixels.height); ++y) {
    uint8_t* at = pixels.bytes.get() + y * pixels.stride() + size_t{left} * 3;
    for (uint32_t x = left; x < right; ++x) {
      *at++ = colour.red;
      *at++ = colour.green;
      *at++ = colour.blue;
    }
  }
}

// Returns a length that grows with the picture, and is `least` in small ones.
int64_t scaled_length(const Pixels& pixels, uint32_t per_unit, int64_t least) {
  const uint32_t longer = std::max(pixels.width, pixels.height);
  return std::max<int64_t>(least, (longer + per_unit / 2) / per_unit);
}

// The coordinates of boxes may be far outside of the picture, and are clamped to its surroundings.
Area whole_pixels(const Mark& mark) {
  const auto nearest = [](double at) {
    return static_cast<int64_t>(std::lround(std::clamp(at, -kFar, kFar)));
  };
  return {nearest(mark.left), nearest(mark.top), nearest(mark.right), nearest(mark.bottom)};
}

// Draws the outline within the box.
void outline(Pixels& pixels, const Area& box, int64_t thickness, Colour colour) {
  const auto [left, top, right, bottom] = box;
  fill(pixels, {left, top, right, std::min(top + thickness, bottom)}, colour);
  fill(pixels, {left, std::max(bottom - thickness, top), right, bottom}, colour);
  fill(pixels, {left, top, std::min(left + thickness, right), bottom}, colour);
  fill(pixels, {std::max(right - thickness, left), top, right, bottom}, colour);
}

void write_letter(Pixels& pixels, char letter, int64_t left, int64_t top, int64_t scale) {
  const Letter& columns = letter_of(letter);
  for (int64_t x = 0; x < kLetterWidth; ++x)
    for (int64_t y = 0; y < kLetterHeight; ++y)
      if ((columns[static_cast<size_t>(x)] >> y & 1) != 0)
        fill(pixels,
             {left + x * scale, top + y * scale, left + (x + 1) * scale, top + (y + 1) * scale},
             kInk);
}

// Writes the caption on a filled area above the box or, at the upper edge of the picture, in it. A
// caption that would leave the picture on the right begins further left.
void write_caption(Pixels& pixels, const Mark& mark, const Area& box, Colour colour) {
  const int64_t scale = scaled_length(pixels, 300, 1);
  const int64_t advance = (kLetterWidth + 1) * scale;
  const auto letters = static_cast<int64_t>(mark.caption.size());
  const int64_t width = letters * advance + scale, height = (kLetterHeight + 2) * scale;
  const int64_t left = std::max<int64_t>(0, std::min(box.left, pixels.width - width));
  const int64_t top = box.top >= height ? box.top - height : std::max<int64_t>(0, box.top);
  fill(pixels, {left, top, left + width, top + height}, colour);
  for (int64_t i = 0; i < letters; ++i)
    write_letter(pixels, mark.caption[static_cast<size_t>(i)], left + scale + i * advance,
                 top + scale, scale);
}

}  // namespace

Canvas::Canvas(std::unique_ptr<Pixels> pixels) : pixels_(std::move(pixels)) {}
Canvas::Canvas(Canvas&&) noexcept = default;
Canvas& Canvas::operator=(Canvas&&) noexcept = default;
Canvas::~Canvas() = default;

Result<Canvas> Canvas::open(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(Pixels pixels, decode_file(path, {3, PictureOptions().max_pixels}));
  return Canvas(std::make_unique<Pixels>(std::move(pixels)));
}

uint32_t Canvas::width() const noexcept {
  return pixels_->width;
}

uint32_t Canvas::height() const noexcept {
  return pixels_->height;
}

void Canvas::draw(const Mark& mark) {
  const Colour colour = kColours[mark.colour % kColours.size()];
  const Area box = whole_pixels(mark);
  outline(*pixels_, box, scaled_length(*pixels_, 400, 2), colour);
  if (!mark.caption.empty()) write_caption(*pixels_, mark, box, colour);
}

void Canvas::tint(uint32_t x, uint32_t y, uint32_t colour) noexcept {
  const Colour& with = kColours[colour % kColours.size()];
  uint8_t* const at = pixels_->bytes.get() + y * pixels_->stride() + size_t{x} * 3;
  at[0] = static_cast<uint8_t>((at[0] + with.red) / 2);
  at[1] = static_cast<uint8_t>((at[1] + with.green) / 2);
  at[2] = static_cast<uint8_t>((at[2] + with.blue) / 2);
}

Result<std::vector<std::byte>> Canvas::encode(std::string_view format) const {
  if (format == "jpeg") return encode_jpeg(*pixels_);
  if (format == "png") return encode_png(*pixels_);
  return invalid_argument("pictures are written as JPEG and PNG");
}

std::string_view writable_format(std::string_view path) {
  const size_t dot = path.rfind('.');
  std::string extension(dot == path.npos ? std::string_view() : path.substr(dot));
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".jpg" || extension == ".jpeg") return "jpeg";
  return extension == ".png" ? "png" : "";
}

}  // namespace millrace::io
