// Every collective on one rank, compared with a scalar reference bit by bit.
#pragma once

#include <cstdint>

#include "ranks/communicator.h"

namespace millrace::ranks {

// How often tests run all of them: MILLRACE_TEST_RANK_RUNS, instead of once.
uint32_t rank_runs();

// Called on each rank of a group with the same seed: all reductions of all types, and all
// collectives that move data, short and long, in place and not.
void expect_every_collective(Communicator& own, uint32_t seed);

}  // namespace millrace::ranks
