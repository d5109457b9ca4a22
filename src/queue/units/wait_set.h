// wait_any() and wait_all(): wait for several requests, which may belong to several units.
// Thread-safe.
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

// Waits up to `timeout` until one of the requests is completed, and returns its index in the list
// (the lowest if several are). kPending if none is completed by then, kInvalidArgument for an empty
// list, and kInvalidJobId for an id that its unit never issued.
Result<size_t> wait_any(std::span<const UnitRequest> requests, std::chrono::nanoseconds timeout);

// Waits up to `timeout` until all requests are completed. OK then, whatever their status (see
// Unit::wait); kPending if some are not completed by then; kInvalidArgument and kInvalidJobId as
// above.
Status wait_all(std::span<const UnitRequest> requests, std::chrono::nanoseconds timeout);

}  // namespace millrace::queue
