// A pipeline of three stages at the NRT face, write, execute and read: measured one after another,
// and overlapped on three units of a core.
#pragma once

#include <memory>
#include <vector>

#include "bench/nrt/face.h"

namespace millrace::bench {

using Slots = std::vector<std::unique_ptr<Slot>>;
Slots make_slots(const Face& face, int count);

// Milliseconds of each stage on its own, medians of several runs.
struct StageTimes {
  double write = 0, execute = 0, read = 0;
};
StageTimes measure_stages(const Face& face, Slot& slot);

// Returns the milliseconds for `items` items, if each stage ends before the next begins.
double run_one_in_flight(const Face& face, Slot& slot, int items);
// Returns the milliseconds for `items` items with one item in flight per slot.
double run_overlapped(const Face& face, const Slots& slots, int items);

}  // namespace millrace::bench
