// Runs a command's work in a child process, which can be ended at a time limit, and which can be
// restricted, for models that nobody vouches for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/status.h"
#include "cli/output_sink.h"

namespace millrace::cli {

struct Supervision {
  bool sandbox = false;       // whether the child is restricted as by restrict_process()
  uint64_t memory_limit = 0;  // bytes that the model may take, in a sandbox; 0: any
  std::chrono::nanoseconds time_limit{0};  // zero: none
};

// Forks and has the child do `work`. What that gives to its sink is passed on to `outputs` in this
// process; the child's standard output and error are those of this process. Returns the status of
// the work, or how the child ended instead: kDeadlineExceeded, kUnsupported for a system call that
// the sandbox forbids, kDeviceFailed for a signal. To be called while the process has one thread.
Status run_supervised(const Supervision& supervision,
                      const std::function<Status(const OutputSink&)>& work,
                      const OutputSink& outputs);

}  // namespace millrace::cli
