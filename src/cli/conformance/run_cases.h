// Runs cases side by side, each in a process of its own, so that one which crashes or hangs ends
// itself only. Each has a time limit.
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
  uint32_t jobs = 1;                       // processes at a time, at least 1
  std::chrono::nanoseconds time_limit{0};  // limit for one case; zero: none
};

// Has `run` give an outcome for each case, in a child process, and passes it to `done`, with the
// index of the case, in this one: in the order in which they end. A process that ends without an
// outcome is a failure of its case. Fails only where no process can be made. To be called while the
// process has one thread.
Status run_cases(std::span<const TestCase> cases, const CaseLimits& limits,
                 const std::function<Outcome(const TestCase&)>& run,
                 const std::function<void(size_t index, Outcome outcome)>& done);

}  // namespace millrace::cli
