// The instruction sets that the vector loops of the process run with, that is, the targets of
// Highway that its HWY_DYNAMIC_DISPATCH chooses among. Thread-safe as long as no thread changes the
// environment.
#pragma once

#include <cstdint>

namespace hwy {
struct ChosenTarget;
}

namespace millrace {

// Bits of hwy/detect_targets.h: all targets that the processor and the system have and that
// MILLRACE_MAX_ISA allows. A value of the variable that makes no sense is no limit here; opening a
// device that computes reports it. Computed anew by every call.
int64_t vector_targets() noexcept;

// The choice of the process, made at its first vector loop. Tests change it, while no loop runs.
hwy::ChosenTarget& chosen_vector_target() noexcept;

}  // namespace millrace
