// The work of each process of the sample.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t rank, ranks;
  long numbers;  // in each tensor
  long times;    // that they are summed
} rank_task;

// Returns whether all sums were right. Rank 0 says on standard output how long they took; anything
// that fails is said on standard error.
bool run_rank(const rank_task* task);
