// The locations of files and devices on a board, and how to name others on machines without one.
#pragma once

#include <cstdint>
#include <string>

struct Board {
  std::string xclbin;  // ZEROCOPY_XCLBIN
  std::string labels;  // ZEROCOPY_LABELS: one per line, the number of the line is the class
  int32_t device_index = 1;
  uint8_t input_bank = 2;   // of the frame with the picture
  uint8_t output_bank = 2;  // of the frame that the network reads
};

// The board's paths, or those that the environment variables name.
Board board_of_environment();
