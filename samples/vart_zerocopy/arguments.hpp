// The command line of vart_zerocopy.
#pragma once

#include <optional>
#include <string>

struct Arguments {
  std::string image;
  std::string model;      // what create_runner takes: an archive, or a directory with vaiml_par_0
  bool zero_copy = true;  // tensors of the HW view; else of the CPU view
  int runs = 1;           // of the timed loop
};

// Nothing after --help. Throws std::runtime_error.
std::optional<Arguments> parse_arguments(int argc, char** argv);
