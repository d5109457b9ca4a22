#include "nrt/unit_address.h"

#include <fmt/format.h>

namespace millrace::nrt {

const char* name_of(UnitKind kind) noexcept {
  switch (kind) {
    case UnitKind::kRead:
      return "tensor read";
    case UnitKind::kWrite:
      return "tensor write";
    case UnitKind::kOp:
      return "tensor op";
    case UnitKind::kCompute:
      return "compute";
    case UnitKind::kCollectives:
      return "collectives";
  }
  return "unknown";
}

std::string name_of(const UnitAddress& address) {
  return fmt::format("core {} {} {}", address.core, name_of(address.kind), address.queue);
}

}  // namespace millrace::nrt
