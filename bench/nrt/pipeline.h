// Write, execute, read: one after another, and overlapped on three units of a core.
#pragma once

#include <memory>
#include <vector>

#include "bench/nrt/face.h"

namespace millrace::bench {

using Slots = std::vector<std::unique_ptr<Slot>>;
Slots make_slots(const Face& face, int count);

// Milliseconds of a stage on its own, medians of several.
struct StageTimes {
  double write = 0, execute = 0, read = 0;
};
StageTimes measure_stages(const Face& face, Slot& slot);

// Milliseconds for `items` items, each stage of which ends before the next begins.
double run_one_in_flight(const Face& face, Slot& slot, int items);
// The same with an item in every slot at a time.
double run_overlapped(const Face& face, const Slots& slots, int items);

}  // namespace millrace::bench
