// A cycle is a program at one face from beginning to end: it creates what it needs, runs jobs in
// every way, and destroys everything. Nothing of it exists before, nothing is left after.
#pragma once

#include <string>

namespace millrace::test {

enum class Outcome {
  kSucceeded,  // every call did, and every result was right
  kRefused,    // a call, or a job, failed with a status or an exception of the face
  kBroken,     // a promise was broken: a job was lost, a result was wrong
};

struct CycleResult {
  Outcome outcome = Outcome::kSucceeded;
  const char* what = "";  // the call that failed, or the promise
};

struct CycleInput {
  std::string archive;  // a file with the tiny model
  std::string device;
  // Whether the device computes: otherwise results are not looked at.
  bool computes() const { return device == "cpu"; }
  // The same with fault injection in front, on which the cycles run.
  std::string faulty_device() const { return "faulty-" + device; }
};

// Each returns when every job that it began has completed. The faces take the device from the
// environment.
CycleResult run_native_cycle(const CycleInput& input);
CycleResult run_vart_cycle(const CycleInput& input);
CycleResult run_nrt_cycle(const CycleInput& input);

// Refuses with the text when a call was not successful.
#define MILLRACE_CYCLE_TRY(condition)                                    \
  do {                                                                   \
    if (!(condition)) return CycleResult{Outcome::kRefused, #condition}; \
  } while (false)
// Likewise for a promise.
#define MILLRACE_CYCLE_EXPECT(condition)                                \
  do {                                                                  \
    if (!(condition)) return CycleResult{Outcome::kBroken, #condition}; \
  } while (false)

// Returns what a part of the cycle does, unless it succeeds.
#define MILLRACE_CYCLE_STEP(part)                                                             \
  do {                                                                                        \
    if (const CycleResult ended = (part); ended.outcome != Outcome::kSucceeded) return ended; \
  } while (false)

}  // namespace millrace::test
