#include "graph/compiled_model.h"

#include <algorithm>

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

const char* name_of(HwQuantisation form) noexcept {
  return form == HwQuantisation::kVendor ? "vendor" : "model";
}

bool has_requantised_views(const CompiledModel& model) noexcept {
  return std::ranges::any_of(model.inputs, &Boundary::requantised) ||
         std::ranges::any_of(model.outputs, &Boundary::requantised);
}

}  // namespace millrace::graph
