// The ids of requests and of the lanes that run them.
#pragma once

#include <cstdint>

namespace millrace::queue {

// The id of a request: the unit's id in the upper 16 bits, a counter without gaps in the lower 48.
// The first accepted request of a unit has counter 1; counter 0 means "nothing yet". Ids of one
// unit compare as plain integers; ids of different units are not comparable.
using SequenceId = uint64_t;
inline constexpr int kCounterBits = 48;
inline constexpr SequenceId kCounterMask = (SequenceId{1} << kCounterBits) - 1;
constexpr uint16_t unit_of(SequenceId id) noexcept {
  return static_cast<uint16_t>(id >> kCounterBits);
}
constexpr uint64_t counter_of(SequenceId id) noexcept {
  return id & kCounterMask;
}
constexpr SequenceId sequence_of(uint16_t unit, uint64_t counter) noexcept {
  return SequenceId{unit} << kCounterBits | counter;
}

// The number of the lane on which a request runs, 0 to Lanes::id_limit() - 1.
using LaneId = uint32_t;
// Means that there is no lane.
inline constexpr LaneId kNoLane = ~LaneId{0};

}  // namespace millrace::queue
