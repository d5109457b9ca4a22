// The pinned lanes of sessions that are bound to a core by their columns. There is one lane per
// core in use, whatever the number of sessions and of column groups on that core, so that their
// jobs run in the order of submission.
#pragma once

#include <memory>

#include "queue/lanes/lanes.h"

namespace millrace::runtime {

// Returns the one lane of the process that is pinned to the logical processor `core`. Its thread is
// started on first use, and ends with the last pointer. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<queue::Lanes> lane_bound_to(int core);

}  // namespace millrace::runtime
