#include "nrt/poll.h"

#include <fmt/format.h>

#include "nrt/call.h"

namespace millrace::nrt {

Result<UnitAddress> address_of(Runtime& runtime, std::span<const UnitKind> kinds, uint32_t core,
                               uint32_t kind, int queue) {
  if (kind >= kinds.size())
    return invalid_argument(fmt::format("there is no execution unit {}", kind));
  const UnitAddress address{core, kinds[kind], static_cast<uint32_t>(queue)};
  MILLRACE_RETURN_IF_ERROR(runtime.units().check(address));
  return address;
}

NRT_STATUS last_completed(std::span<const UnitKind> kinds, uint32_t core, uint32_t kind, int queue,
                          nrta_seq_t* sequence) noexcept {
  constexpr const char* kCall = "nrta_get_sequence";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (sequence == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    const Result<UnitAddress> address = address_of(runtime, kinds, core, kind, queue);
    if (!address.ok()) return report(kCall, address.status());
    const uint16_t number = number_of(*address);
    const RequestUnit* const unit = runtime.units().find(number);
    *sequence = unit == nullptr ? outward_id(number, 0) : unit->last_completed();
    return NRT_SUCCESS;
  });
}

}  // namespace millrace::nrt
