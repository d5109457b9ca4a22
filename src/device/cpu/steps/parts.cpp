#include "device/cpu/steps/parts.h"

#include "queue/requests/run_control.h"

namespace millrace::device::cpu {

void run_parts(const RunState& state, uint32_t count, queue::Team::Chunk part,
               void* work) noexcept {
  if (queue::Team* const team = state.control.team(); team != nullptr && count > 1)
    return team->run(state.control.lane(), count, part, work);
  for (uint32_t number = 0; number < count; ++number) part(work, number);
}

}  // namespace millrace::device::cpu
