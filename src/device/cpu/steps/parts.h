// The division of one of the device's own steps into parts, which idle lanes take.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "device/cpu/steps/step.h"
#include "queue/lanes/team.h"

namespace millrace::device::cpu {

// Like the template below, but calls part(work, number).
void run_parts(const RunState& state, uint32_t count, queue::Team::Chunk part, void* work) noexcept;

// Runs part(number) for each number from 0 to `count` - 1, on the calling thread and on the lanes
// that come to help the job, and returns when all have ended. The parts wait for nothing, and
// `count` follows from Builder::chunks(), so that a program has helpers where it has steps with
// parts. Allocates nothing.
template <std::invocable<uint32_t> Part>
void run_parts(const RunState& state, uint32_t count, Part part) noexcept {
  const auto call = [](void* work, uint32_t number) { (*static_cast<Part*>(work))(number); };
  run_parts(state, count, call, &part);
}

// The number of parts, at most one per chunk, of a step whose parts have scratch of their own each.
// Every lane has memory for all parts of a job, so that it grows with the square of the lanes.
constexpr uint32_t parts_with_scratch(uint32_t chunks, size_t bytes_each) noexcept {
  constexpr size_t kMostBytes = size_t{8} << 20;
  return std::min(chunks, static_cast<uint32_t>(std::max<size_t>(kMostBytes / bytes_each, 1)));
}

// The range of `all` items that the part with that number has.
struct Share {
  size_t first, count;
};
constexpr Share share_of(size_t all, uint32_t number, uint32_t parts) {
  const size_t first = number * all / parts;
  return {first, (number + 1) * all / parts - first};
}

}  // namespace millrace::device::cpu
