#include "graph/compiled_model.h"

namespace millrace::graph {

const char* name_of(PartitionKind kind) noexcept {
  switch (kind) {
    case PartitionKind::kNpu:
      return "NPU";
    case PartitionKind::kCpu:
      return "CPU";
    case PartitionKind::kCollective:
      return "collective";
  }
  return "?";
}

}  // namespace millrace::graph
