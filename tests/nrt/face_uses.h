// Uses each face from beginning to end on the CPU device: load, run, unload.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace millrace::test {

// Archives of the tiny model, made before the face is used.
struct TinyArchive {
  std::string path;
  std::vector<std::byte> bytes;
};

// Returns what went wrong; empty where the result is right.
using Use = std::string (*)(const TinyArchive& archive);

struct FaceUse {
  const char* name;
  Use use;
};
std::vector<FaceUse> face_uses();

}  // namespace millrace::test
