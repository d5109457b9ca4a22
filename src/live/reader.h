// Reads what processes show of their units (process_page.h): those of this user, or, for root, of
// all users. Whatever a process has written, the result has valid counts and texts. Thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "queue/units/run_times.h"

namespace millrace::live {

struct ShownUnit {
  uint64_t made = 0;  // no other unit of the process has or had this number
  uint16_t id = 0;
  std::string name;
  uint32_t lanes = 0, depth = 0, in_flight = 0;
  bool degraded = false, closed = false;
  uint64_t submitted = 0, refused = 0;
  uint64_t succeeded = 0, cancelled = 0, dropped = 0, late = 0, failed = 0;
  int64_t mean_run_ns = 0;
  queue::RunTimes::Counts run_times{};

  uint64_t completed() const noexcept { return succeeded + cancelled + dropped + late + failed; }
};

struct ShownProcess {
  pid_t pid = 0;
  std::string name;          // of the program, as the system knows it
  int64_t time_ns = 0;       // when it described itself, by now_ns()
  bool has_answered = true;  // false if it is stopped or too busy: then this is an earlier answer
  uint64_t buffer_bytes = 0;
  uint64_t resident_bytes = 0;  // of the whole process
  uint32_t other_units = 0;     // for which there was no room
  std::vector<ShownUnit> units;
};

// Asks the process to describe itself, and waits for the answer, for `patience` at most. kNotFound
// if it shows nothing or cannot be read.
Result<ShownProcess> ask_process(pid_t pid, std::chrono::milliseconds patience);

// Asks all processes at once, by ascending id; each gets the same `patience`.
std::vector<ShownProcess> ask_processes(std::chrono::milliseconds patience);

}  // namespace millrace::live
