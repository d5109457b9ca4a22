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

enum { DEPTH = 3 };

// Runs `items` items through the pipeline, DEPTH of them at a time, each in a group of its own.
// Item i's outputs hash to hashes[i].
bool run_pipeline(const loaded_model* loaded, const tensor_group groups[DEPTH], long items,
                  unsigned long* hashes);
