#include "graph/compiled_model.h"

namespace millrace::graph {

const char* name_of(PartitionKind kind) noexcept {
  return kind == PartitionKind::kCpu ? "CPU" : "NPU";
}

}  // namespace millrace::graph
