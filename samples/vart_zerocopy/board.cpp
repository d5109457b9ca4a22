#include "board.hpp"

#include <cstdlib>

namespace {

std::string from_environment(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

}  // namespace

Board board_of_environment() {
  Board board;
  board.xclbin = from_environment("ZEROCOPY_XCLBIN", "/run/media/mmcblk0p1/x_plus_ml.xclbin");
  board.labels = from_environment("ZEROCOPY_LABELS",
                                  "/etc/vai/models/resnet50_int8/data/imagenet-classes-1000.txt");
  return board;
}
