// Runs test cases in parallel, each in a process of its own with a time limit, so that a case that
// crashes or hangs affects no other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/status.h"
#include "cli/conformance/outcome.h"
#include "cli/conformance/test_case.h"

namespace millrace::cli {

struct CaseLimits {
  uint32_t jobs = 1;                       // greatest number of processes at a time, at least 1
  std::chrono::nanoseconds time_limit{0};  // limit for one case; zero: none
};

// Calls `run` for each case in a child process, and passes its outcome, with the index of the case,
// to `done` in this process, in the order in which the cases end. If a child ends without an
// outcome, its case has failed. Returns an error only if no child can be made or waited for. To be
// called while the process has one thread.
Status run_cases(std::span<const TestCase> cases, const CaseLimits& limits,
                 const std::function<Outcome(const TestCase&)>& run,
                 const std::function<void(size_t index, Outcome outcome)>& done);

}  // namespace millrace::cli
