// What an execution unit runs, and what is known when it is done.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"

namespace millrace::queue {

// 64 bits: the unit's id in the high 16, a counter without gaps in the low 48. The first accepted
// request of a unit has counter 1; counter 0 means "nothing yet". Ids of one unit compare as plain
// integers; ids of different units are not comparable.
using SequenceId = uint64_t;
inline constexpr int kCounterBits = 48;
inline constexpr SequenceId kCounterMask = (SequenceId{1} << kCounterBits) - 1;
constexpr uint16_t unit_of(SequenceId id) noexcept {
  return static_cast<uint16_t>(id >> kCounterBits);
}
constexpr uint64_t counter_of(SequenceId id) noexcept {
  return id & kCounterMask;
}

// Where a request runs: the number of the lane, 0 to lanes - 1.
using LaneId = uint32_t;

// The work of one request. A unit owns one Task per slot of its ring, made once when the unit is
// made and reused for every request that takes the slot: a submitter fills it in, a lane runs it,
// and release() drops what the request referred to. So nothing is allocated per request.
//
// The three steps of one request never overlap, and each sees the writes of the one before.
class Task {
 public:
  virtual ~Task() = default;
  // On a lane. Writes the outputs and returns the request's status.
  virtual Status run(LaneId lane) noexcept = 0;
  // After completion was published: drop references, keep capacity.
  virtual void release() noexcept = 0;
};

struct Completion {
  SequenceId sequence = 0;
  Status status;
};

// Called once per request that was submitted with it, on the dispatcher thread, after the sequence
// was published and in the unit's order. It may submit and may wait for other requests; what it
// throws is caught and logged.
using Callback = std::function<void(const Completion&)>;

}  // namespace millrace::queue
