// Parts of a step of the device's own, which idle lanes take.
#pragma once

#include "device/cpu/step.h"
#include "queue/lanes/team.h"

namespace millrace::device::cpu::kernels {

// Runs parts 0 to `count` - 1 of the work, on the calling thread and on the lanes that come to help
// the job. The parts wait for nothing, and `count` follows from Builder::chunks(), so that a
// program has helpers where it has steps with parts.
void run_parts(const RunState& state, uint32_t count, queue::Team::Chunk part, void* work) noexcept;

// The range of `all` things that is the part with that number.
struct Share {
  size_t first, count;
};
constexpr Share share_of(size_t all, uint32_t number, uint32_t parts) {
  const size_t first = number * all / parts;
  return {first, (number + 1) * all / parts - first};
}

}  // namespace millrace::device::cpu::kernels
