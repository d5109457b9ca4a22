#include "nrt/calls/world.h"

#include <fmt/format.h>

#include "nrt/calls/call.h"

namespace millrace::nrt {

NRT_STATUS check_world(const char* call, uint32_t rank, uint32_t ranks) noexcept {
  return contained(call, [&] {
    if (ranks > 1)
      return report(call, NRT_FAILURE, fmt::format("{} ranks: there can be one only", ranks));
    if (rank != 0 || ranks == 0)
      return report(call, NRT_INVALID, fmt::format("there is no rank {} of {}", rank, ranks));
    return NRT_SUCCESS;
  });
}

}  // namespace millrace::nrt
