// One attempt: works on items from `*done` on until all are done, one fails again and again, or the
// execution unit is degraded.
#pragma once

// Exit codes, too: those of sysexits.h, where it has one that fits.
typedef enum {
  ALL_DONE = 0,
  CALL_FAILED = 1,    // of the runtime or the system; standard error says which
  ITEM_FAILED = 65,   // EX_DATAERR: the unit works, so another process would fail as well
  UNIT_DEGRADED = 75  // EX_TEMPFAIL: another process may go on
} outcome;

// Counts in `*done` the items that have been computed, in their order; another process may look at
// it at any time. Between nrt_init and nrt_close of its own.
outcome work(const char* model, long items, volatile long* done);
