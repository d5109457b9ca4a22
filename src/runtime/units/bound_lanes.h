// The lanes of bound sessions: one per core in use, whatever the number of sessions and of column
// groups on that core, so that their jobs take turns in the order of submission.
#pragma once

#include <memory>

#include "queue/lanes/lanes.h"

namespace millrace::runtime {

// The one lane of the process that is pinned to the logical processor `core`: its thread is started
// on first use, and ends with the last pointer. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<queue::Lanes> lane_bound_to(int core);

}  // namespace millrace::runtime
