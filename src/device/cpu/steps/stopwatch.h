// Stopwatch: measures how long steps take on the calling thread and those that help it. The time is
// the least of several runs, each with its operands in the caches as far as they fit, since other
// work on the machine makes times longer, never shorter.
//
// Belongs to the thread of its crew. May throw what guarded() catches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>

#include "device/cpu/steps/crew.h"
#include "device/cpu/steps/step.h"

namespace millrace::device::cpu {

class Stopwatch {
 public:
  // The operand of a primitive with that index.
  struct Operand {
    int index;
    Desc desc;
  };

  // All three must outlive it.
  Stopwatch(const dnnl::engine& engine, const dnnl::stream& stream, Crew& crew)
      : engine_(engine), stream_(stream), crew_(crew) {}

  // The number of threads that take part.
  uint32_t threads() const noexcept { return crew_.threads(); }
  // For a step of the device's own; it has neither buffers nor arguments.
  RunState state() const noexcept { return {crew_.control(), stream_, {}, {}}; }

  // Memory for a tensor, filled with normal numbers: arithmetic on zeros may be quicker, and on
  // denormal numbers it is slower.
  dnnl::memory filled(const Desc& desc) const;
  // Memory for `count` FP32 elements, filled in the same way.
  dnnl::memory floats(size_t count) const;

  // Nanoseconds that a call of `run` takes.
  template <class Run>
  uint64_t time(Run run) const {
    constexpr int kLeastRuns = 4, kMostRuns = 100;
    constexpr std::chrono::milliseconds kLongEnough{10};
    run();
    uint64_t least = std::numeric_limits<uint64_t>::max();
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kMostRuns && (i < kLeastRuns || Clock::now() - start < kLongEnough); ++i) {
      const Clock::time_point before = Clock::now();
      run();
      const std::chrono::nanoseconds taken = Clock::now() - before;
      least = std::min(least, static_cast<uint64_t>(taken.count()));
    }
    return least;
  }

  // Nanoseconds that the primitive takes. Operands without elements are left out.
  uint64_t time(const dnnl::primitive& primitive, std::span<const Operand> operands) const;

 private:
  using Clock = std::chrono::steady_clock;

  const dnnl::engine& engine_;
  const dnnl::stream& stream_;
  Crew& crew_;
};

// The elements of memory that a Stopwatch has filled.
template <class Element = float>
Element* elements_of(const dnnl::memory& memory) {
  return static_cast<Element*>(memory.get_data_handle());
}

}  // namespace millrace::device::cpu
