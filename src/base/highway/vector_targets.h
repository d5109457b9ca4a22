// The instruction sets for vector loops: the Highway targets among which HWY_DYNAMIC_DISPATCH
// chooses. Thread-safe as long as no thread changes the environment.
#pragma once

#include <cstdint>

namespace hwy {
struct ChosenTarget;
}

namespace millrace {

// Returns a set of bits of hwy/detect_targets.h: all targets that the processor and the system
// support and MILLRACE_MAX_ISA allows. An invalid value of the variable is ignored here; opening a
// device that computes reports it. Computed by every call.
int64_t vector_targets() noexcept;

// Returns the target that the process has chosen, at its first vector loop. Tests change it while
// no loop runs.
hwy::ChosenTarget& chosen_vector_target() noexcept;

}  // namespace millrace
