#include "nrt/calls/core_memory.h"

#include <algorithm>
#include <functional>
#include <set>

#include "nrt/objects/tensor.h"

namespace millrace::nrt {

std::vector<MemoryPiece> memory_pieces(int core) {
  std::vector<MemoryPiece> pieces;
  std::set<const Storage*> seen;
  TensorHandles::of_process().for_each([&](const Tensor& tensor) {
    const Storage* const storage = tensor.storage().get();
    if (tensor.core() != core || storage == nullptr || !seen.insert(storage).second) return;
    pieces.push_back({storage->memory.device_address(), storage->memory.size(), tensor.name()});
  });
  std::ranges::stable_sort(pieces, std::greater<>(), &MemoryPiece::bytes);
  return pieces;
}

}  // namespace millrace::nrt
