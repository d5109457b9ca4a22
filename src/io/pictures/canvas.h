// Canvas: a picture file on which boxes with captions are drawn and areas are coloured, for reports
// of detectors. Movable. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::io {

struct Pixels;

// A box in pixels of the picture, whose corners have integer coordinates, and its caption.
struct Mark {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  std::string caption;  // characters other than printable ASCII are shown as '?'; empty: none
  uint32_t colour = 0;  // index of one of a few colours; greater numbers begin again
};

class Canvas {
 public:
  // Reads a picture. Fails as load_picture() does.
  static Result<Canvas> open(const std::string& path);
  Canvas(Canvas&&) noexcept;
  Canvas& operator=(Canvas&&) noexcept;
  ~Canvas();

  uint32_t width() const noexcept;
  uint32_t height() const noexcept;

  // Draws the outline of a box and its caption. What lies outside of the picture is left out.
  // Lines and letters are larger in larger pictures.
  void draw(const Mark& mark);

  // Mixes a pixel, half and half, with a colour, which is numbered as that of a mark. Requirement:
  // it is a pixel of the picture.
  void tint(uint32_t x, uint32_t y, uint32_t colour) noexcept;

  // Returns the picture as a file of this format, one of those of writable_format(). kOutOfMemory;
  // kInvalidArgument for another format.
  Result<std::vector<std::byte>> encode(std::string_view format) const;

 private:
  explicit Canvas(std::unique_ptr<Pixels> pixels);
  std::unique_ptr<Pixels> pixels_;
};

// Returns the format that the extension of a file name stands for, "jpeg" or "png"; empty for any
// other extension.
std::string_view writable_format(std::string_view path);

}  // namespace millrace::io
