#include "nrt/calls/async/poll.h"

#include <fmt/format.h>

#include "base/hooks.h"
#include "base/polls.h"
#include "check/check.h"
#include "nrt/calls/call.h"

namespace millrace::nrt {
namespace {

[[gnu::cold]] NRT_STATUS refuse(Runtime& runtime, std::span<const UnitKind> kinds, uint32_t core,
                                uint32_t kind, int queue, const nrta_seq_t* sequence) noexcept {
  constexpr const char* kCall = "nrta_get_sequence";
  return contained(kCall, [&] {
    if (sequence == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    return report(kCall, address_of(runtime, kinds, core, kind, queue).status());
  });
}

// The program learns of all requests that are completed by now, and asks for the next one.
void note_poll_of(const queue::Unit& unit) noexcept {
  const queue::SequenceId last = unit.last_completed();
  note_poll_of_range(queue::sequence_of(unit.id(), 1), last);
  if (unit.in_flight() != 0) note_poll(last + 1, false);
  if (!check::on()) return;
  check::note_unit_asked(unit.id());
  if (unit.in_flight() != 0) check::note_poll_of_pending();
}

}  // namespace

Result<UnitAddress> address_of(Runtime& runtime, std::span<const UnitKind> kinds, uint32_t core,
                               uint32_t kind, int queue) {
  if (kind >= kinds.size())
    return invalid_argument(fmt::format("there is no execution unit {}", kind));
  const UnitAddress address{core, kinds[kind], static_cast<uint32_t>(queue)};
  MILLRACE_RETURN_IF_ERROR(runtime.units().check(address));
  return address;
}

// Programs poll with this call, so the common path only checks the arguments and loads a counter,
// and traces do not record it.
NRT_STATUS last_completed(std::span<const UnitKind> kinds, uint32_t core, uint32_t kind, int queue,
                          nrta_seq_t* sequence) noexcept {
  const InCall inside;
  Runtime* const runtime = Runtime::current();
  if (runtime == nullptr) [[unlikely]]
    return refuse_without_runtime("nrta_get_sequence");
  if (sequence != nullptr && kind < kinds.size()) [[likely]] {
    const UnitAddress address{core, kinds[kind], static_cast<uint32_t>(queue)};
    if (runtime->units().has(address)) [[likely]] {
      const uint16_t number = number_of(address);
      RequestUnit* const unit = runtime->units().find(number);
      if (unit != nullptr && hooks_observed()) [[unlikely]]
        note_poll_of(unit->queue_unit());
      *sequence = unit == nullptr ? outward_id(number, 0) : unit->last_completed();
      return NRT_SUCCESS;
    }
  }
  return refuse(*runtime, kinds, core, kind, queue, sequence);
}

}  // namespace millrace::nrt
