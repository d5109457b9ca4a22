// A pipeline over three execution units of core 0, which work at the same time on different items:
//
//   item 3: write        TENSOR_OP, queue 0
//   item 2: execute      COMPUTE,   queue 0
//   item 1: read         TENSOR_OP, queue 1
//
// An item's next request is scheduled when the one before has completed: units do not wait for
// each other. A completion on any unit wakes the loop through the eventfd of that unit.
#pragma once

#include "model.h"

enum { MOST_IN_FLIGHT = 3 };

// Runs `items` items, `in_flight` of them at a time, each in a group of its own: with one, every
// request waits for the one before, with three the units overlap. Item i's outputs hash to
// hashes[i].
bool run_pipeline(const loaded_model* loaded, const tensor_group* groups, int in_flight, long items,
                  unsigned long* hashes);
