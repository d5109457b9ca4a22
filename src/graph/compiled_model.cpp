#include "graph/compiled_model.h"

namespace millrace::graph {

const char* name_of(Precision precision) noexcept {
  return precision == Precision::kBf16 ? "bf16" : "fp32";
}

const char* name_of(PartitionKind kind) noexcept {
  return kind == PartitionKind::kCpu ? "CPU" : "NPU";
}

}  // namespace millrace::graph
