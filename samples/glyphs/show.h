// A picture as text on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::samples {

struct Picture {
  uint32_t height = 0;
  uint32_t width = 0;
  std::vector<unsigned char> pixels;  // grey, row by row
};

// Prints the picture, and below it the character that the network read; a wrong reading also names
// the right character.
void show_picture(const Picture& picture, const std::string& read, const std::string& right);

}  // namespace millrace::samples
