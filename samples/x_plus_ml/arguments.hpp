// The command line of x_plus_ml.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

struct PictureSize {
  int width = 0;  // pixels, as the height
  int height = 0;
};

struct Arguments {
  std::string app_config;
  std::string input;  // a file or a folder
  std::optional<PictureSize> size;
  int runs = 1;                                                  // times the input is read
  std::size_t frames = std::numeric_limits<std::size_t>::max();  // of each run, at most
  bool benchmark = false;
  std::string log_level = "WARNING";  // of runners for which the configuration names none
};

// Nothing after --help, which it prints. Throws std::runtime_error, or an exception of the option
// parser, for a command line that makes no sense.
std::optional<Arguments> parse_arguments(int argc, char** argv);
