// Objects in what detectors put out, decoded as their authors do it.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace millrace::test {

struct Detection {
  float score = 0;
  size_t object_class = 0;
  std::array<float, 4> corners{};  // left, top, right, bottom; in pixels of the network's input
};

// The elements of each output, by name.
using Outputs = std::map<std::string, std::vector<float>>;
using Decode = std::vector<Detection> (*)(const Outputs& outputs);

// Each returns one detection per object, in descending order of scores.
std::vector<Detection> ultraface_faces(const Outputs& outputs);     // 320 x 240
std::vector<Detection> yunet_faces(const Outputs& outputs);         // 320 x 320
std::vector<Detection> fastestdet_objects(const Outputs& outputs);  // 352 x 352

}  // namespace millrace::test
