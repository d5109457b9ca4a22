// Pictures as text on a terminal.
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

// Prints a row of pictures, spread over the set, each with what it was read as; a wrong reading
// also names the right one.
void show_pictures(const std::vector<Picture>& pictures, const std::vector<int>& right,
                   const std::vector<int>& read, const std::vector<std::string>& class_names);

}  // namespace millrace::samples
