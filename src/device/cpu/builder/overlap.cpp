#include "device/cpu/builder/overlap.h"

#include <algorithm>

namespace millrace::device::cpu {
namespace {

// Whether a later step has to wait for a collective. Inputs of the caller are read only.
bool uses_memory_of(const Step& later, const std::vector<BufferId>& collective,
                    const BufferTable& buffers) {
  const std::vector<BufferId> used = later.buffers();
  return std::ranges::any_of(used, [&](BufferId id) {
    return std::ranges::any_of(collective, [&](BufferId own) {
      return buffers.in_same_memory(id, own) && !buffers.is_input(own);
    });
  });
}

}  // namespace

void overlap_collectives(std::vector<ProgramStep>& steps, BufferTable& buffers) {
  uint32_t begun = 0;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].step->waits_for_ranks()) continue;
    const std::vector<BufferId> memory = steps[i].step->buffers();
    const auto first = steps.begin() + i + 1;
    const auto user = std::find_if(first, steps.end(), [&](const ProgramStep& later) {
      return uses_memory_of(*later.step, memory, buffers);
    });
    // Nothing can run beside the collective if only collectives stand between.
    const bool is_alone = std::all_of(
        first, user, [](const ProgramStep& between) { return between.step->waits_for_ranks(); });
    if (is_alone) {
      steps[i].awaits = begun;
      continue;
    }
    steps[i].is_begun = true;
    ++begun;
    if (user != steps.end()) user->awaits = begun;
    const auto last = std::min<size_t>(static_cast<size_t>(user - steps.begin()), steps.size() - 1);
    for (const BufferId id : memory) buffers.touch(id, static_cast<uint32_t>(last));
  }
}

}  // namespace millrace::device::cpu
