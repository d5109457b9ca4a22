// What lies in the memory of a core, for people and programs that ask. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::nrt {

struct MemoryPiece {
  uint64_t device_address = 0;
  uint64_t bytes = 0;
  std::string name;  // of a tensor that it belongs to
};

// The memory of the live tensors of a core, largest first. Slices are no pieces of their own.
std::vector<MemoryPiece> memory_pieces(int core);

}  // namespace millrace::nrt
