// One attempt: works on items from `*done` on until all are done or the execution unit is lost.
#pragma once

typedef enum {
  ALL_DONE = 0,
  UNIT_LOST = 75,  // EX_TEMPFAIL: another process may go on
  NO_USE = 1
} outcome;

// Counts in `*done` the items that have been computed, in their order; another process may look at
// it at any time. Between nrt_init and nrt_close of its own.
outcome work(const char* model, long items, volatile long* done);
