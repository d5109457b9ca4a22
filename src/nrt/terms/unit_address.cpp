#include "nrt/terms/unit_address.h"

#include <fmt/format.h>

namespace millrace::nrt {

const char* name_of(UnitKind kind) noexcept {
  switch (kind) {
    case UnitKind::kRead:
      return "TENSOR_READ";
    case UnitKind::kWrite:
      return "TENSOR_WRITE";
    case UnitKind::kOp:
      return "TENSOR_OP";
    case UnitKind::kCompute:
      return "COMPUTE";
    case UnitKind::kCollectives:
      return "COLLECTIVES";
  }
  return "unknown";
}

std::string name_of(const UnitAddress& address) {
  const std::string kind = name_of(address.kind);
  return queues_of(address.kind) == 1
             ? fmt::format("{} of core {}", kind, address.core)
             : fmt::format("{} queue {} of core {}", kind, address.queue, address.core);
}

}  // namespace millrace::nrt
