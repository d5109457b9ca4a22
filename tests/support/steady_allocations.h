// Counts the allocations of a round of work in steady state, for programs that link
// counting_new.cpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "tests/support/counting_new.h"

namespace millrace::test {

// Returns the fewest allocations of several runs of a thousand rounds. A lane allocates its working
// memory with the first job that it runs, and a test cannot choose which lane runs a job. So a run
// in which a lane is new counts more, but what every round allocates shows in all runs.
template <class Round>
size_t steady_allocations(Round&& round) {
  constexpr int kRuns = 5, kRounds = 1000;
  size_t fewest = static_cast<size_t>(-1);
  bool ok = true;
  for (int run = 0; run < kRuns; ++run) {
    const size_t before = allocation_count();
    for (int i = 0; i < kRounds; ++i) ok &= round();
    fewest = std::min(fewest, allocation_count() - before);
  }
  EXPECT_TRUE(ok) << "a round failed";
  return fewest;
}

}  // namespace millrace::test
