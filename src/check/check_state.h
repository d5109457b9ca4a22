// The checker of the process: its tables, its reporter, and the function that observes the table of
// hooks. For the sources of this folder.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.h"
#include "check/job_book.h"
#include "check/reporter.h"

namespace millrace::check {

struct Checker {
  JobBook book;
  Reporter reporter;
  int64_t slow_callback_ns = 10'000'000;
  std::atomic<uint64_t> completions{0};
  std::atomic<bool> has_runner_jobs{false};
};

Checker& checker();

// Begins to observe. kResourceExhausted when the table of hooks is full.
Status start_checking();
// Ends observing. The tables stay.
void stop_checking() noexcept;
// Does the same, and reports what can only be known at the end of the process.
void end_checking() noexcept;

}  // namespace millrace::check
