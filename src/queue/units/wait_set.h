// Waiting for several requests, also of several units, at once. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "base/status.h"
#include "queue/units/unit.h"

namespace millrace::queue {

struct UnitRequest {
  Unit* unit = nullptr;
  SequenceId id = 0;
};

// The index of a request that is completed (the first in the list, if several are), waiting up to
// `timeout` for one; kPending when none is by then, kInvalidArgument for an empty list, and
// kInvalidJobId for an id that its unit never issued.
Result<size_t> wait_any(std::span<const UnitRequest> requests, std::chrono::nanoseconds timeout);

// OK when all requests are completed, whatever their status (ask Unit::wait); kPending when some
// were not when `timeout` had passed; kInvalidJobId as above.
Status wait_all(std::span<const UnitRequest> requests, std::chrono::nanoseconds timeout);

}  // namespace millrace::queue
