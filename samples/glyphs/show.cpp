#include "samples/glyphs/show.h"

#include <cstdio>
#include <cstdlib>

namespace millrace::samples {
namespace {

constexpr size_t kPicturesShown = 3;
constexpr char kRamp[] = " .:-=+*#%@";

// How far a pixel stands out from the ground, which the corner shows: characters come dark on light
// and light on dark.
int ink(const Picture& picture, uint32_t row, uint32_t column) {
  return std::abs(picture.pixels[row * picture.width + column] - picture.pixels[0]);
}

// One text line of a picture: characters are twice as high as wide, so two rows make one line.
void print_line(const Picture& picture, uint32_t row) {
  for (uint32_t x = 0; x < picture.width; ++x)
    std::putchar(kRamp[(ink(picture, row, x) + ink(picture, row + 1, x)) * 9 / 510]);
}

}  // namespace

void show_pictures(const std::vector<Picture>& pictures, const std::vector<int>& right,
                   const std::vector<int>& read, const std::vector<std::string>& class_names) {
  std::vector<size_t> shown;
  for (size_t i = 0; i < kPicturesShown; ++i)
    shown.push_back((2 * i + 1) * pictures.size() / (2 * kPicturesShown));
  for (uint32_t row = 0; row + 1 < pictures[0].height; row += 2) {
    for (const size_t index : shown) {
      print_line(pictures[index], row);
      std::fputs("  ", stdout);
    }
    std::putchar('\n');
  }
  for (const size_t index : shown) {
    std::string caption = "read as " + class_names[static_cast<size_t>(read[index])];
    if (read[index] != right[index])
      caption += ", is " + class_names[static_cast<size_t>(right[index])];
    std::printf("%-*s  ", static_cast<int>(pictures[index].width), caption.c_str());
  }
  std::puts("\n");
}

}  // namespace millrace::samples
