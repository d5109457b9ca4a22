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

// The program learns of all requests up to `last`, which it receives, and asks for the next one.
void note_poll_of(const queue::Unit& unit, queue::SequenceId last) noexcept {
  const bool is_pending = unit.in_flight() != 0;
  note_poll_of_range(queue::sequence_of(unit.id(), 1), last);
  if (is_pending) note_poll(last + 1, false);
  if (!check::on()) return;
  check::note_unit_asked(unit.id());
  if (is_pending) check::note_poll_of_pending();
}

// Reads the counter once, so that observers and the program are told the same.
nrta_seq_t last_completed_of(RequestUnit& unit) noexcept {
  const queue::SequenceId last = unit.queue_unit().last_completed();
  if (hooks_observed()) [[unlikely]]
    note_poll_of(unit.queue_unit(), last);
  return unit.outward(last);
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
      *sequence = unit == nullptr ? outward_id(number, 0) : last_completed_of(*unit);
      return NRT_SUCCESS;
    }
  }
  return refuse(*runtime, kinds, core, kind, queue, sequence);
}

}  // namespace millrace::nrt
