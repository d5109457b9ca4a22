// The clock of the recorder: the counter of the processor, which takes a third of the time of the
// system's clock, where it counts evenly and on all cores alike; otherwise the system's clock.
// Thread-safe.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/unique_fd.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace millrace::timeline {

class Ticks {
 public:
  // Decides which clock is used. To be called before the first reading.
  static void choose() noexcept {
    uses_counter_.store(counter_is_steady(), std::memory_order_relaxed);
  }
  static int64_t now() noexcept {
#ifdef __x86_64__
    if (uses_counter_.load(std::memory_order_relaxed)) return static_cast<int64_t>(__rdtsc());
#endif
    return now_ns();
  }

 private:
  static bool counter_is_steady() noexcept {
#ifdef __x86_64__
    constexpr unsigned kPowerLeaf = 0x8000'0007, kInvariant = 1u << 8;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0 &&
           system_uses_counter();
#else
    return false;
#endif
  }

  // The system gives the counter up where it is not the same on all cores. A virtual machine's
  // clock is made from it.
  static bool system_uses_counter() noexcept {
    const UniqueFd file(::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                               O_RDONLY | O_CLOEXEC));
    char name[16]{};
    const ssize_t count = ::read(file.get(), name, sizeof name - 1);
    const std::string_view clock(name, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return clock == "tsc\n" || clock == "kvm-clock\n";
  }

  // Defined in recorder.cpp rather than here, where g++ would make a unique symbol of it
  // (live/process_page.h).
  static std::atomic<bool> uses_counter_;
};

// A reading of both clocks. Between two of them ticks are converted to nanoseconds.
struct ClockReading {
  int64_t ticks = 0;
  int64_t ns = 0;  // now_ns()
};

// Returns the one of several readings that took least, since a thread may be interrupted between
// the two clocks.
inline ClockReading read_clocks() noexcept {
  ClockReading best;
  int64_t least = INT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const int64_t before = Ticks::now();
    const int64_t ns = now_ns();
    const int64_t after = Ticks::now();
    if (after - before >= least) continue;
    least = after - before;
    best = {after, ns};
  }
  return best;
}

// Returns the time at which the ticks were read, which lies between the two readings.
inline int64_t ns_of(int64_t ticks, const ClockReading& begin, const ClockReading& end) noexcept {
  if (ticks <= begin.ticks) return begin.ns;
  if (ticks >= end.ticks) return end.ns;
  const double ns_per_tick =
      static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks);
  return begin.ns + static_cast<int64_t>(static_cast<double>(ticks - begin.ticks) * ns_per_tick);
}

}  // namespace millrace::timeline
