// Event: what the recorder keeps of a HookEvent. Fixed in size, so that a ring buffer holds it.
#pragma once

#include <cstdint>

#include "base/hooks.h"

namespace millrace::timeline {

using ThreadId = uint32_t;  // gettid()

struct Event {
  int64_t time_ns = 0;  // now_ns(); in rings as Ticks (ticks.h)
  uint64_t subject = 0;
  uint64_t detail = 0;
  ThreadId thread = 0;
  HookPoint point = HookPoint::kSubmitted;

  bool operator==(const Event&) const = default;
};

}  // namespace millrace::timeline
