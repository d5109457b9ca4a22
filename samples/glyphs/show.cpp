#include "samples/glyphs/show.h"

#include <cstdio>
#include <cstdlib>

namespace millrace::samples {
namespace {

constexpr char kRamp[] = " .:-=+*#%@";

// How far a pixel stands out from the background, which the corner shows: some characters are dark
// on light, others light on dark.
int ink(const Picture& picture, uint32_t row, uint32_t column) {
  return std::abs(picture.pixels[row * picture.width + column] - picture.pixels[0]);
}

// One text line, without trailing blanks. Characters of a terminal are twice as high as wide, so
// two rows of pixels make one line.
std::string text_line(const Picture& picture, uint32_t row) {
  std::string line;
  for (uint32_t x = 0; x < picture.width; ++x)
    line += kRamp[(ink(picture, row, x) + ink(picture, row + 1, x)) * 9 / 510];
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void show_picture(const Picture& picture, const std::string& read, const std::string& right) {
  for (uint32_t row = 0; row + 1 < picture.height; row += 2) {
    const std::string line = text_line(picture, row);
    if (!line.empty()) std::puts(line.c_str());
  }
  std::printf("read as %s", read.c_str());
  if (read != right) std::printf(", is %s", right.c_str());
  std::puts("\n");
}

}  // namespace millrace::samples
